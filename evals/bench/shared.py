"""A step whose page another worker has put into the shared cache, against the same step without one.

Invariant: the site answers at once, so that of a page load only the browser's part is measured; on the web it takes
longer, and a lookup does not.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager

import numpy as np
from aiohttp import web

from browser.action import Visit
from browser.environment import WebEnvironment
from browser.pool import BrowserPool, PoolOptions
from browser.shared_cache.address import CacheAddress
from browser.shared_cache.cache import SharedCache
from browser.shared_cache.link import CacheLink
from evals.bench.result import Result, compare
from speccache import SpeculativeEnvironment

_PART_CHARS = 16_000
_HOSTS = frozenset({"127.0.0.1"})
_FRESH = {"Cache-Control": "max-age=600"}


async def shared(address: CacheAddress, *, pairs: int) -> Result:
    """Visit `pairs` pages in a run that finds them in the cache, and in one without a cache, in turn."""
    async with _site() as base, BrowserPool(PoolOptions(speculation_slots=0)) as pool:
        visits = [Visit(f"{base}/{number}") for number in range(pairs + 1)]
        async with CacheLink(address) as link:  # closed before the others begin: all is written then
            await _walk(pool, link, visits)
        async with CacheLink(address) as link:
            plain, found = _web(pool), _web(pool)
            level = _level(link, found)
            cached = SpeculativeEnvironment(found, second_level=level)
            loads, steps, lookups = [], [], []
            for visit in visits:
                loads.append(await _seconds(plain.step(visit)))
                steps.append(await _seconds(cached.step(visit)))
                lookups.append(await _seconds(level.claim(found.key(visit))))
            await cached.aclose()
            await plain.aclose()
    typical_ms, slow_ms = np.percentile(lookups[1:], [50, 95]) * 1000
    parts = {"lookup_p50_ms": round(float(typical_ms), 3), "lookup_p95_ms": round(float(slow_ms), 3)}
    return compare("shared", steps[1:], loads[1:], unit="s a step", parts=parts)


async def _walk(pool: BrowserPool, link: CacheLink, visits: Sequence[Visit]) -> None:
    walked = _web(pool)
    environment = SpeculativeEnvironment(walked, second_level=_level(link, walked), lifetime_of=walked.lifetime)
    for visit in visits:
        await environment.step(visit)
    await environment.aclose()


def _web(pool: BrowserPool) -> WebEnvironment:
    return WebEnvironment(pool, named_hosts=_HOSTS, part_chars=_PART_CHARS)


def _level(link: CacheLink, of: WebEnvironment) -> SharedCache:
    return SharedCache(link, name_of=of.key, part_chars=_PART_CHARS, named_hosts=_HOSTS)


async def _seconds(work: Awaitable[object]) -> float:
    started_seconds = time.perf_counter()
    await work
    return time.perf_counter() - started_seconds


@asynccontextmanager
async def _site() -> AsyncIterator[str]:
    """Serve pages of about a printed page's text, which any cache may keep; no two are the same."""

    async def answer(request: web.Request) -> web.StreamResponse:
        rows = "".join(
            f"<p>Sentence {row} of page {request.path} says <a href='/{row}'>this</a>.</p>" for row in range(60)
        )
        return web.Response(text=f"<title>{request.path}</title>{rows}", content_type="text/html", headers=_FRESH)

    application = web.Application()
    application.router.add_get("/{tail:.*}", answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
