"""A pool of one size kept full: what it loads in a second, what it costs, and what it does to a real navigation.

Invariant: everything goes the way speculation goes in a run: gate, guard, per-host limits and low priority included.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import cycle, islice

import numpy as np

from agent.settings import Settings
from browser.action import Visit
from browser.environment import WebEnvironment
from browser.errors import BrowserError
from evals.bench.processes import browsers, families, memory_bytes
from evals.tune.sample import LoadSample
from evals.tune.subject import Pace, Page, Subject
from evals.tune.walker import open_walker
from speccache.errors import Unspeculable

_RETRY_SECONDS = 0.05
_LAG_SAMPLE_SECONDS = 0.02
# Where pages are slower than the window, it lasts until each has been loaded once, or for so many windows.
_MAX_WINDOWS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Load:
    began_seconds: float
    ended_seconds: float

    @property
    def seconds(self) -> float:
        return self.ended_seconds - self.began_seconds

    def share(self, from_seconds: float, to_seconds: float) -> float:
        """Return which part of it lies in a span of time."""
        inside = min(self.ended_seconds, to_seconds) - max(self.began_seconds, from_seconds)
        return max(0.0, inside) / max(self.seconds, 1e-6)


async def measure_loads(
    slots: int, *, round_number: int, subject: Subject, settings: Settings, pace: Pace
) -> LoadSample:
    """Open a pool of this size, navigate with nothing beside, fill it, watch it, navigate again.

    Raises:
        BrowserError: The browser does not work.
    """
    sized = settings.model_copy(update={"pool_size": slots, "speculation": True})
    async with open_walker(sized, subject.starts) as walker:
        for start in subject.starts:
            await walker.step(Visit(start))  # what is linked on a page visited may be loaded ahead
        route = list(islice(cycle(subject.pages), pace.navigations))
        await _navigate(walker, route)  # so that what is kept from the first visit is kept alike in both that count
        alone_seconds = await _navigate(walker, route)
        idle_bytes = await asyncio.to_thread(_browser_bytes)
        async with _Loaders(walker, subject.pages).running(slots) as loaders:
            window = await loaders.watch(pace.window_seconds, warm=slots)
            full_bytes = await asyncio.to_thread(_browser_bytes)
            beside_seconds = await _navigate(walker, route)
        loads = loaders.loads_in(window)
    return LoadSample(
        round=round_number,
        slots=slots,
        pages_per_second=sum(load.share(window.began_seconds, window.ended_seconds) for load in loads) / window.seconds,
        load_seconds=tuple(load.seconds for load in loads),
        alone_seconds=alone_seconds,
        beside_seconds=beside_seconds,
        idle_bytes=idle_bytes,
        full_bytes=full_bytes,
        lag_seconds=loaders.lag_seconds,
        refusals=dict(loaders.refusals),
    )


def _browser_bytes() -> int:
    return memory_bytes(families(browsers()))


async def _navigate(walker: WebEnvironment, route: list[Page]) -> tuple[float, ...]:
    seconds = []
    for page in route:
        began_seconds = time.perf_counter()
        await walker.step(Visit(page.url))
        seconds.append(time.perf_counter() - began_seconds)
    return tuple(seconds)


class _Loaders:
    """Tasks that each load one page ahead after the other."""

    def __init__(self, walker: WebEnvironment, pages: tuple[Page, ...]) -> None:
        self._walker = walker
        self._pages = cycle(pages)
        self._count = len(pages)
        self._loads: list[_Load] = []
        self._lags_seconds: list[float] = []
        self._news = asyncio.Event()
        self.refusals: Counter[str] = Counter()

    @asynccontextmanager
    async def running(self, count: int) -> AsyncIterator[_Loaders]:
        """Keep this many busy while the block runs."""
        tasks = [asyncio.create_task(self._keep_loading(), name="load ahead") for _ in range(count)]
        try:
            yield self
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        for task in tasks:
            if not task.cancelled():
                task.result()  # ended by an error that nobody expected

    async def _keep_loading(self) -> None:
        while True:
            page = next(self._pages)
            began_seconds = time.perf_counter()
            try:
                await self._walker.peek(Visit(page.url))
            except (Unspeculable, BrowserError) as refusal:
                self.refusals[refusal.reason if isinstance(refusal, Unspeculable) else type(refusal).__name__] += 1
                await asyncio.sleep(_RETRY_SECONDS)  # most are refused at once, some for a moment only
            else:
                self._loads.append(_Load(began_seconds=began_seconds, ended_seconds=time.perf_counter()))
                self._news.set()

    async def watch(self, seconds: float, *, warm: int) -> _Load:
        """Watch the full pool once so many pages have been loaded; return from when to when."""
        await self._loaded(warm, at_most_seconds=seconds)
        began_seconds, loads = time.perf_counter(), len(self._loads)
        lags = asyncio.create_task(self._watch_lag(), name="watch the loop's lag")
        try:
            await asyncio.sleep(seconds)
            await self._loaded(loads + max(warm, self._count), at_most_seconds=(_MAX_WINDOWS - 1) * seconds)
        finally:
            lags.cancel()
            await asyncio.wait([lags])
        return _Load(began_seconds=began_seconds, ended_seconds=time.perf_counter())

    async def _loaded(self, count: int, *, at_most_seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(at_most_seconds):
                while len(self._loads) < count:
                    self._news.clear()
                    await self._news.wait()

    async def _watch_lag(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due_seconds = loop.time() + _LAG_SAMPLE_SECONDS
            await asyncio.sleep(_LAG_SAMPLE_SECONDS)
            self._lags_seconds.append(loop.time() - due_seconds)

    @property
    def lag_seconds(self) -> float:
        """How late callbacks ran while the pool was watched, 95th percentile."""
        return float(np.percentile(self._lags_seconds, 95)) if self._lags_seconds else 0.0

    def loads_in(self, window: _Load) -> list[_Load]:
        """Return the loads of which some part lies in the window."""
        return [load for load in self._loads if load.share(window.began_seconds, window.ended_seconds) > 0]
