"""What runs in a worker's process, as a Ray actor.

Invariant: what was opened is closed in the task that opened it, before the process ends of itself. Where it is killed,
browsers see their pipe close and end, too.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic

from agent.cluster.opening import Opening, ResultT, TaskT, Work
from agent.cluster.versions import Versions, versions


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """Where a worker runs, and what.

    Attributes:
        host: Its machine's name.
        pid: Its process there.
        versions: What it runs.
    """

    host: str
    pid: int
    versions: Versions


class Actor(Generic[TaskT, ResultT]):
    """Opens once what all tasks share, then does tasks, several at once.

    Resource handling: owns what was opened; `aclose()` closes it.
    Cancellation: `aclose()` cancels the tasks under way.
    """

    def __init__(self) -> None:
        self._closing = asyncio.Event()
        self._holder: asyncio.Task[None] | None = None
        self._opened = asyncio.Event()
        self._work: Work[TaskT, ResultT] | None = None
        self._running: set[asyncio.Task[object]] = set()

    async def seat(self) -> Seat:
        """Tell where it runs, and what."""
        return Seat(host=socket.gethostname(), pid=os.getpid(), versions=versions())

    async def open(self, opening: Opening[TaskT, ResultT], variables: Mapping[str, str]) -> None:
        """Open what tasks share.

        Args:
            opening: Opens it.
            variables: Environment variables to set before.
        """
        os.environ.update(variables)
        self._holder = asyncio.create_task(self._hold(opening), name="hold what is shared")
        opened = asyncio.create_task(self._opened.wait())
        await asyncio.wait([opened, self._holder], return_when=asyncio.FIRST_COMPLETED)
        opened.cancel()
        if self._holder.done():
            self._holder.result()

    async def work(self, task: TaskT) -> ResultT:
        """Do a task."""
        if self._work is None or self._closing.is_set():
            raise RuntimeError("nothing is open for this task to work with")
        current = asyncio.current_task()
        if current is not None:
            self._running.add(current)
            current.add_done_callback(self._running.discard)
        return await self._work(task)

    async def aclose(self) -> None:
        """End what is under way, then close what is shared."""
        self._closing.set()
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(self._running)
        if self._holder is not None:
            if not self._opened.is_set():
                self._holder.cancel()
            await asyncio.wait([self._holder])

    async def _hold(self, opening: Opening[TaskT, ResultT]) -> None:
        # One task enters and leaves: what is opened may hold task groups and time limits, which belong to a task.
        async with opening() as self._work:
            self._opened.set()
            await self._closing.wait()
