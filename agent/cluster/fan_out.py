"""Tasks spread over the workers of a cluster.

Invariant: every task ends as one that was done or as one that was lost, whichever workers die; when the run ends,
however it does, its workers are gone.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from agent.cluster.actor import Seat
from agent.cluster.backlog import Attempt, Backlog
from agent.cluster.cluster import JoinedCluster
from agent.cluster.errors import ClusterUnusable, WorkerLost
from agent.cluster.opening import Opening, ResultT, TaskT

if TYPE_CHECKING:
    from agent.cluster.ray_worker import RayWorker

logger = logging.getLogger(__name__)

_MAX_ATTEMPTS = 3
_MAX_VAIN_STARTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished(Generic[TaskT, ResultT]):
    """What came of a task.

    Attributes:
        task: It.
        result: What it gave; None where it was lost.
        lost: Why nobody could do it; empty where it was done.
    """

    task: TaskT
    result: ResultT | None = None
    lost: str = ""


class FanOut(Generic[TaskT, ResultT]):
    """Spreads tasks over workers that each open the same.

    Args:
        cluster: Where, joined already.
        opening: What each worker opens once, before its first task.
        at_once: Tasks that one worker does at once.
        seated: Called with each worker that is ready.
    """

    def __init__(
        self,
        cluster: JoinedCluster,
        opening: Opening[TaskT, ResultT],
        *,
        at_once: int = 1,
        seated: Callable[[Seat], None] = lambda _: None,
    ) -> None:
        self._cluster = cluster
        self._opening = opening
        self._at_once = at_once
        self._seated = seated
        self._places = 0
        self._failure: Exception | None = None

    async def run(self, tasks: Sequence[TaskT], keep: Callable[[Finished[TaskT, ResultT]], None]) -> None:
        """Have all tasks done.

        Args:
            tasks: They, in the order in which they are begun.
            keep: Called with each that ended, in the order in which they do.

        Cancellation: what is under way ends, and the workers close what they opened.

        Raises:
            ClusterUnusable: No worker could begin, or none is left.
            Exception: What opening, a task or `keep` raised.
        """
        backlog = Backlog(tasks, max_attempts=_MAX_ATTEMPTS)
        self._places = max(1, min(self._cluster.workers, -(-len(tasks) // self._at_once)))
        try:
            async with asyncio.TaskGroup() as group:
                places = [group.create_task(self._place(backlog, keep)) for _ in range(self._places)]
                await backlog.finished.wait()
                for place in places:
                    place.cancel()
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed  # the others were cancelled on its account

    async def _place(self, backlog: Backlog[TaskT], keep: Callable[[Finished[TaskT, ResultT]], None]) -> None:
        """Keep one worker at work; a new one takes the place of one that dies, unless that happens again and again."""
        done = 0

        def count(finished: Finished[TaskT, ResultT]) -> None:
            nonlocal done
            done += 1
            keep(finished)

        vain = 0
        while vain < _MAX_VAIN_STARTS:
            before = done
            try:
                async with self._worker() as worker:
                    await self._all_serve(worker, backlog, count)
            except WorkerLost as error:
                logger.warning("a worker was lost, its questions go to another: %s", error)
                self._failure = error
            vain = vain + 1 if done == before else 0
        self._leave()

    def _leave(self) -> None:
        self._places -= 1
        if not self._places:
            raise ClusterUnusable(
                f"no worker is left: {self._failure}",
                hint="Look at `ray status` and at the workers' logs; memory is the usual reason.",
            ) from self._failure

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator[RayWorker[TaskT, ResultT]]:
        worker = self._cluster.worker(at_once=self._at_once)
        try:
            try:
                async with asyncio.timeout(self._cluster.cluster.start_seconds):
                    self._seated(await worker.open(self._opening))
            except TimeoutError as error:
                raise WorkerLost("the cluster had no room for it, or it could not begin in time") from error
            yield worker
        finally:
            await worker.aclose()

    async def _all_serve(
        self,
        worker: RayWorker[TaskT, ResultT],
        backlog: Backlog[TaskT],
        keep: Callable[[Finished[TaskT, ResultT]], None],
    ) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._at_once):
                    group.create_task(self._serve(worker, backlog, keep))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed

    async def _serve(
        self,
        worker: RayWorker[TaskT, ResultT],
        backlog: Backlog[TaskT],
        keep: Callable[[Finished[TaskT, ResultT]], None],
    ) -> None:
        while True:
            attempt = await backlog.take()
            try:
                result = await worker.work(attempt.task)
            except (WorkerLost, asyncio.CancelledError):
                # Where it dies, the first of its tasks to notice cancels the others, which are lost as well.
                if worker.lost:
                    _take_back(backlog, attempt, keep, worker.lost)
                raise
            keep(Finished(task=attempt.task, result=result))
            backlog.settle()


def _take_back(
    backlog: Backlog[TaskT], attempt: Attempt[TaskT], keep: Callable[[Finished[TaskT, ResultT]], None], why: str
) -> None:
    if not backlog.give_back(attempt):
        keep(Finished(task=attempt.task, lost=f"{attempt.number} workers died at it: {why}"))
