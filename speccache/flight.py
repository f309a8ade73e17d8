"""Single flight: the same work is never done twice at once.

Invariant: a key has at most one running task, and the task lives exactly as long as somebody waits for it: as in
async-lru, the last waiter that leaves cancels the work.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

ValueT = TypeVar("ValueT")


class _Flight(Generic[ValueT]):
    def __init__(self, task: asyncio.Task[ValueT], started_seconds: float) -> None:
        self.task = task
        self.started_seconds = started_seconds
        self.waiters = 0


class Flights(Generic[ValueT]):
    """Running work by key.

    Args:
        clock: Where the time comes from, in seconds.

    Cancellation: cancelling a waiter takes only that waiter out; when it was the last one, the work is cancelled too
    and the waiter returns after the work has ended, so that nothing outlives its owner.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._flights: dict[Hashable, _Flight[ValueT]] = {}

    async def run(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, ValueT]]) -> ValueT:
        """Start the work, or join it if it is running, and wait for its result.

        Raises:
            Exception: Whatever the work raises, to every waiter.
        """
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.create_task(work(), name=f"flight {key!r}"), self._clock())
        flight.waiters += 1
        try:
            # Not shield(): a shielded task's error would be logged as never retrieved once its waiter is cancelled.
            await asyncio.wait([flight.task])
        finally:
            flight.waiters -= 1
            # A finished flight leaves with its first waiter, an unfinished one with its last; a new one may follow.
            if (flight.waiters == 0 or flight.task.done()) and self._flights.get(key) is flight:
                del self._flights[key]
            if flight.waiters == 0:
                await _end(flight.task)
        return flight.task.result()

    def running_seconds(self, key: Hashable) -> float:
        """Return for how long the work under the key has been running; 0 where there is none."""
        flight = self._flights.get(key)
        return 0.0 if flight is None else self._clock() - flight.started_seconds

    def __contains__(self, key: Hashable) -> bool:
        return key in self._flights

    def __len__(self) -> int:
        return len(self._flights)

    def __repr__(self) -> str:
        waiters = sum(flight.waiters for flight in self._flights.values())
        return f"<Flights running={len(self)} waiters={waiters}>"


async def _end(task: asyncio.Task[Any]) -> None:
    if not task.done():
        task.cancel()
        await asyncio.wait([task])
    if not task.cancelled():
        task.exception()  # marks it as retrieved: its last reader may just have been cancelled
