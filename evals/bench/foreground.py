"""A real navigation beside four speculations in flight, against one alone; and the naive way, all in one browser."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import cycle

from browser.action import Visit
from browser.environment import WebEnvironment
from browser.errors import BrowserError
from browser.pool import BrowserPool, PoolOptions
from evals.bench.result import Result, compare
from evals.site import LatencyModel, SiteServer, build_site
from speccache.errors import Unspeculable

LOADERS = 4


async def foreground(*, pairs: int) -> Result:
    """Measure `pairs` triples: alone, beside four speculations, and beside four loads in the same browser."""
    site = build_site()
    paths = [path for path, page in site.pages.items() if path.startswith("/en/") and "#" not in path]
    alone, beside, naive = [], [], []
    async with (
        SiteServer(site, latency=LatencyModel(time_scale=0)) as server,
        BrowserPool(PoolOptions(speculation_slots=LOADERS)) as pool,
    ):
        urls = [server.url + path for path in paths]
        walker = WebEnvironment(pool, named_hosts={"127.0.0.1"})
        others = [WebEnvironment(pool, named_hosts={"127.0.0.1"}) for _ in range(LOADERS)]
        for environment in (walker, *others):
            await environment.step(Visit(urls[0]))
        targets = cycle(urls[1:])
        for _ in range(pairs):
            alone.append(await _seconds(walker, next(targets)))
            async with _loading([_peeks(walker, urls) for _ in range(LOADERS)]):
                beside.append(await _seconds(walker, next(targets)))
            async with _loading([_steps(other, urls) for other in others]):
                naive.append(await _seconds(walker, next(targets)))
        for environment in (walker, *others):
            await environment.aclose()
    worse = compare("naive", naive, alone, unit="s")
    parts = {"naive_ratio": worse.ratio, "naive_interval": list(worse.interval)}
    return compare("foreground", beside, alone, unit="s a navigation, four speculations in flight", parts=parts)


async def _seconds(environment: WebEnvironment, url: str) -> float:
    started_seconds = time.perf_counter()
    await environment.step(Visit(url))
    return time.perf_counter() - started_seconds


@asynccontextmanager
async def _loading(loaders: Sequence[AsyncIterator[None]]) -> AsyncIterator[None]:
    """Keep these loaders busy for the length of the block; it begins when each has begun its second load."""
    begun = [asyncio.Event() for _ in loaders]

    async def keep_loading(loader: AsyncIterator[None], event: asyncio.Event) -> None:
        async for _ in loader:
            event.set()

    tasks = [asyncio.create_task(keep_loading(*pair)) for pair in zip(loaders, begun, strict=True)]
    for event in begun:
        await event.wait()
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def _peeks(environment: WebEnvironment, urls: Sequence[str]) -> AsyncIterator[None]:
    for url in cycle(urls):
        with suppress(Unspeculable, BrowserError):
            await environment.peek(Visit(url))
        yield


async def _steps(environment: WebEnvironment, urls: Sequence[str]) -> AsyncIterator[None]:
    for url in cycle(urls):
        await environment.step(Visit(url))
        yield
