"""Whether there is memory for one more page.

Invariant: between two measurements a page that is opened counts as much as one takes at most, so that many opened at
once do not all see the same room.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from contextlib import suppress

import psutil

from browser.engine.machine import PAGE_BYTES, this_machine
from browser.engine.priority import processes
from browser.engine.running_browser import RunningBrowser
from browser.slots.errands import Errands

_CLOSE_SECONDS = 5.0
_RESERVE_BYTES = 128 * 2**20  # left free for whatever else runs here


class MemoryBudget:
    """What all browsers of a pool may take together.

    Args:
        max_mib: That much, as PSS; None: what is free on this machine.
        browsers: Gives those that run.
        changed: Called after each measurement.
        sample_seconds: How often the browsers are measured, where there is a limit to hold.
        look_seconds: How often they are measured at most, where there is none.
        clock: Where the time comes from, in seconds.

    Resource handling: owns the tasks that measure; `aclose()` ends them.
    """

    def __init__(
        self,
        *,
        max_mib: int | None,
        browsers: Callable[[], Collection[RunningBrowser]],
        changed: Callable[[], None] = lambda: None,
        sample_seconds: float = 1.0,
        look_seconds: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_bytes = None if max_mib is None else max_mib * 2**20
        self._browsers = browsers
        self._changed = changed
        self._sample_seconds = sample_seconds
        self._look_seconds = look_seconds
        self._clock = clock
        self._looked_seconds = clock()
        self._opened = 0
        self._measuring = asyncio.Lock()
        self._tasks = Errands()
        self.measured_bytes = 0
        """PSS of the browsers when it was last measured; 0: never."""

    def start(self) -> None:
        """Begin to sample, where there is a limit to hold."""
        if self._max_bytes is not None:
            self._tasks.run(self._sample(), name="sample memory")

    def look(self) -> None:
        """Measure by the side, where that was not done for long."""
        now_seconds = self._clock()
        if self._max_bytes is None and now_seconds - self._looked_seconds >= self._look_seconds:
            self._looked_seconds = now_seconds
            self._tasks.run(self._look(), name="measure memory")

    async def _look(self) -> None:
        await self.measure()

    def has_room(self) -> bool:
        """Tell whether one more page may be opened."""
        if self._max_bytes is not None:
            return self.measured_bytes + (self._opened + 1) * PAGE_BYTES <= self._max_bytes
        free_bytes = this_machine().memory_bytes
        return free_bytes is None or free_bytes >= _RESERVE_BYTES + PAGE_BYTES

    def opened(self) -> None:
        """Learn that a page is about to be opened."""
        self._opened += 1

    def closed(self) -> None:
        """Learn that one is about to be closed."""
        self._opened -= 1

    async def measure(self) -> int:
        """Measure the browsers now; their PSS together, in bytes."""
        async with self._measuring:  # of two side by side, both would take the same pages off
            opened, browsers = self._opened, list(self._browsers())
            for home in browsers:
                if home.main is not None:  # what another machine can bear is not for this one to measure
                    home.wear.size_bytes = await asyncio.to_thread(pss_bytes, home.main.pid)
            self._opened -= opened
            self.measured_bytes = sum(home.wear.size_bytes for home in browsers)
        self._changed()
        return self.measured_bytes

    async def _sample(self) -> None:
        while True:
            await self.measure()
            await asyncio.sleep(self._sample_seconds)

    async def aclose(self) -> None:
        """End what measures; may be called twice."""
        await self._tasks.aclose(seconds=_CLOSE_SECONDS)
        self.measured_bytes = self._opened = 0


def pss_bytes(group: int) -> int:
    """Measure a process group: each page of memory that several processes share counts once (Linux; elsewhere 0)."""
    return sum(map(_process_bytes, processes(group)))


def _process_bytes(process: int) -> int:
    with suppress(psutil.NoSuchProcess):
        try:
            return int(psutil.Process(process).memory_full_info().pss)
        except psutil.AccessDenied:  # a sandboxed process does not show its maps
            return int(psutil.Process(process).memory_info().rss)
    return 0
