"""A worker in the cluster, as seen from here.

Invariant: Ray's errors become this package's here, and nowhere else; a worker that was asked for is gone once it is
closed, whether it answers or not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any, Generic

import ray
from ray.exceptions import RayError, RayTaskError

from agent.cluster.actor import Actor, Seat
from agent.cluster.errors import ClusterUnusable, WorkerLost
from agent.cluster.opening import Opening, ResultT, TaskT, carried_variables
from agent.cluster.versions import versions
from agent.errors import AgentError
from browser.errors import BrowserError

_REMOTE: Any = ray.remote(Actor)
_CONTROL_CALLS = 2  # room beside the tasks, so that closing never waits for them


class RayWorker(Generic[TaskT, ResultT]):
    """Asks the cluster for an actor and talks to it.

    Args:
        at_once: How many tasks it is given at once.
        grace_seconds: How long it may take to close what it opened.

    Attributes:
        lost: Why it can do nothing any more; empty while it can.

    Resource handling: owns the actor's process; `aclose()` ends it. Ray ends it, too, when this process dies.
    """

    def __init__(self, *, at_once: int, grace_seconds: float) -> None:
        self.lost = ""
        self._grace_seconds = grace_seconds
        self._is_there = False
        self._actor: Any = _REMOTE.options(
            num_cpus=1,
            max_restarts=0,  # a process that Ray began again would have nothing open
            max_concurrency=at_once + _CONTROL_CALLS,
            scheduling_strategy="SPREAD",
        ).remote()

    async def open(self, opening: Opening[TaskT, ResultT]) -> Seat:
        """Wait until it is there and has opened what its tasks share.

        Raises:
            ClusterUnusable: It runs other versions, or cannot open what its tasks share.
            WorkerLost: It died, or never began.
        """
        seat: Seat = await self._reply(self._actor.seat.remote())
        self._is_there = True
        if seat.versions != versions():
            raise ClusterUnusable(
                f"{seat.host} runs {seat.versions}, this machine {versions()}",
                hint="Install the same Python and the same state of this project on every machine.",
            )
        try:
            await self._reply(self._actor.open.remote(opening, carried_variables()))
        except (AgentError, BrowserError) as error:
            if isinstance(error, WorkerLost):
                raise
            raise ClusterUnusable(f"the worker on {seat.host} cannot begin: {error}", hint=error.hint) from error
        return seat

    async def work(self, task: TaskT) -> ResultT:
        """Have a task done.

        Raises:
            WorkerLost: It died.
            Exception: What the task raised.
        """
        result: ResultT = await self._reply(self._actor.work.remote(task))
        return result

    async def aclose(self) -> None:
        """Have it close what it opened, for as long as it may, then end its process."""
        try:
            if self._is_there and not self.lost:
                with suppress(WorkerLost, TimeoutError):
                    async with asyncio.timeout(self._grace_seconds):
                        await self._reply(self._actor.aclose.remote())
        finally:
            ray.kill(self._actor)

    async def _reply(self, call: Awaitable[Any]) -> Any:
        try:
            return await call
        except RayTaskError as error:
            raise (error.cause if isinstance(error.cause, Exception) else error) from error
        except RayError as error:
            first, *more = str(error).strip().splitlines()
            self.lost = " ".join([first.strip(), *(line.strip() for line in more[-1:])])  # the last line has the cause
            raise WorkerLost(self.lost) from error
