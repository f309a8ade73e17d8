"""Functions that block, in threads: those that are called, and those that are only run ahead.

Invariant: no other call waits for what is run ahead, however long that blocks: not for a thread, and not for the
program's end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from threading import BoundedSemaphore, Thread
from typing import TypeVar

from speccache.errors import Unspeculable

ResultT = TypeVar("ResultT")


class BlockingCalls:
    """Two lots of threads, apart from those of the event loop, which sees the caller's context variables in both.

    Args:
        name: What the threads are called.
        max_called: How many calls run at once at most; further ones wait their turn.
        max_ahead: How many run ahead at once at most; further ones are refused, since a call might join them.

    Resource handling: `close()` ends the threads once their functions have ended.
    Cancellation: nothing stops a thread: what was cancelled runs to its end, unheard.
    """

    def __init__(self, name: str, *, max_called: int = 32, max_ahead: int = 4) -> None:
        self._name = name
        self._threads = ThreadPoolExecutor(max_called, thread_name_prefix=name)
        self._room = BoundedSemaphore(max_ahead)
        self.unheard = 0
        """How many calls have ended after their caller was cancelled: what they wrote came later than it seemed."""

    async def called(self, work: Callable[[], ResultT]) -> ResultT:
        """Run a function that was called.

        Raises:
            Exception: Whatever it raises.
        """
        heard = True

        def run() -> ResultT:
            try:
                return _outcome_of(work)
            finally:
                if not heard:
                    self.unheard += 1

        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, copy_context().run, run)
        except asyncio.CancelledError:
            heard = False
            raise

    async def ahead(self, work: Callable[[], ResultT]) -> ResultT:
        """Run a function ahead.

        Raises:
            Unspeculable: As many as may run ahead do so, some of them perhaps for ever, or no thread can be had.
            Exception: Whatever the function raises.
        """
        if not self._room.acquire(blocking=False):
            raise Unspeculable("no-thread")
        future: Future[ResultT] = Future()
        future.set_running_or_notify_cancel()

        def run() -> None:
            try:
                future.set_result(_outcome_of(work))
            except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
                future.set_exception(error)
            finally:
                self._room.release()

        # No pool: Python does not end before the threads of pools have, so that one that hangs would hold the program.
        thread = Thread(target=copy_context().run, args=(run,), name=f"{self._name}-ahead", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system has no more of them
            self._room.release()
            raise Unspeculable("no-thread") from None
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Take no more calls; may be called twice."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _outcome_of(work: Callable[[], ResultT]) -> ResultT:
    try:
        return work()
    except StopIteration as error:  # which no future can hold; a coroutine makes the same of it
        raise RuntimeError("the function raised StopIteration") from error
