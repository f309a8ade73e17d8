"""Functions that block, in threads: those that are called, and those that are only run ahead.

Invariant: no call waits for what is run ahead, however long that blocks: not for a thread, and not for the program's
end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from threading import BoundedSemaphore, Thread
from types import TracebackType
from typing import Generic, TypeVar

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

    async def called(self, work: Callable[[], ResultT]) -> ResultT:
        """Run a function that was called.

        Raises:
            Exception: Whatever it raises.
        """
        return await asyncio.get_running_loop().run_in_executor(self._threads, copy_context().run, work)

    async def ahead(self, work: Callable[[], ResultT]) -> ResultT:
        """Run a function ahead.

        Raises:
            Unspeculable: As many as may run ahead do so, some of them perhaps for ever.
            Exception: Whatever the function raises.
        """
        if not self._room.acquire(blocking=False):
            raise Unspeculable("no-thread")
        outcome: _Outcome[ResultT] = _Outcome()

        def run() -> None:
            try:
                with outcome:
                    outcome.future.set_result(work())
            finally:
                self._room.release()

        # No pool: Python does not end before the threads of pools have, so that one that hangs would hold the program.
        Thread(target=copy_context().run, args=(run,), name=f"{self._name}-ahead", daemon=True).start()
        return await asyncio.wrap_future(outcome.future)

    def close(self) -> None:
        """Take no more calls; may be called twice."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class _Outcome(Generic[ResultT]):
    """Takes what is raised within it to whoever waits for the future."""

    def __init__(self) -> None:
        self.future: Future[ResultT] = Future()
        self.future.set_running_or_notify_cancel()

    def __enter__(self) -> None:
        """Nothing is to be done."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is not None:
            self.future.set_exception(error)
        return True
