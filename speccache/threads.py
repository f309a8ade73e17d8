"""Blocking work in threads.

Invariant: no work outlives the call that waits for it, not even when that call is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

ResultT = TypeVar("ResultT")

_INTERRUPT_SECONDS = 0.02


class Threads:
    """A few threads that run blocking calls.

    Args:
        name: What the threads are called.
        max_threads: How many calls run at once at most; further ones wait their turn.

    Resource handling: `close()` ends the threads once their calls have ended.
    Cancellation: work that has not begun never begins; work that has is interrupted, and waited for.
    """

    def __init__(self, name: str, *, max_threads: int = 8) -> None:
        # Not the loop's own pool: with two cores that has six threads, and speculation could hold all of them.
        self._executor = ThreadPoolExecutor(max_threads, thread_name_prefix=name)

    async def run(self, work: Callable[[], ResultT], *, interrupt: Callable[[], None] = lambda: None) -> ResultT:
        """Run the work in a thread and return its result.

        Args:
            work: The blocking call.
            interrupt: Makes running work end soon; called from outside its thread, again and again until it has ended,
                since it may come too early to find anything to interrupt.

        Raises:
            Exception: Whatever the work raises.
        """
        running = self._executor.submit(work)
        result = asyncio.wrap_future(running)
        try:
            await asyncio.wait([result])
        except asyncio.CancelledError:
            if not running.cancel():
                await _end(result, interrupt)
            raise
        return result.result()

    def close(self) -> None:
        """Take no more work; may be called twice."""
        self._executor.shutdown(wait=False)


async def _end(result: asyncio.Future[ResultT], interrupt: Callable[[], None]) -> None:
    while not result.done():
        interrupt()
        # A second cancellation does not make the thread end any sooner.
        with suppress(asyncio.CancelledError):
            await asyncio.wait([result], timeout=_INTERRUPT_SECONDS)
    result.exception()  # marks it as retrieved: nobody is left to hear of it
