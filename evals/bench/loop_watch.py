"""How long an event loop cannot do anything else.

Invariant: what is measured is what other tasks on the loop feel: its own work, and the waiting for the interpreter
while another thread has it.
"""

from __future__ import annotations

import asyncio
import time
from types import TracebackType

_BEAT_SECONDS = 0.001


class LoopWatch:
    """Measures while its block runs, by a callback that wants to run every millisecond.

    Attributes:
        held_seconds: How much later than it wanted the callback ran, all its runs together.
        longest_seconds: The longest that it had to wait.
        wall_seconds: How long the block ran.
    """

    def __init__(self) -> None:
        self.held_seconds = 0.0
        self.longest_seconds = 0.0
        self.wall_seconds = 0.0
        self._started = self._due = 0.0
        self._handle: asyncio.TimerHandle | None = None

    def __enter__(self) -> LoopWatch:
        self._started = time.perf_counter()
        self._wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.wall_seconds = time.perf_counter() - self._started
        self._count()
        if self._handle is not None:
            self._handle.cancel()

    def _wait(self) -> None:
        self._due = time.perf_counter() + _BEAT_SECONDS
        self._handle = asyncio.get_running_loop().call_later(_BEAT_SECONDS, self._beat)

    def _beat(self) -> None:
        self._count()
        self._wait()

    def _count(self) -> None:
        late_seconds = max(0.0, time.perf_counter() - self._due)
        self.held_seconds += late_seconds
        self.longest_seconds = max(self.longest_seconds, late_seconds)
