"""A step whose page another worker has put into the shared cache, against the same step without one.

Invariant: the site answers at once, so that what is measured of a page load is the browser's part alone; on the web it
takes longer, and a lookup does not.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
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

_PARAGRAPHS = 120
_WRITE_SECONDS = 10.0


async def shared(address: CacheAddress, *, pairs: int) -> Result:
    """Visit `pairs` pages in a run that finds them in the cache, and in one that has none, in turn."""
    steps, loads = [], []
    async with _site() as base, BrowserPool(PoolOptions(speculation_slots=0)) as pool, CacheLink(address) as link:
        plain = WebEnvironment(pool, named_hosts={"127.0.0.1"})
        async with _run(pool, link) as writer, _run(pool, link) as reader:
            for number in range(pairs + 1):
                action = Visit(f"{base}/{number}")
                await writer.step(action)
                await _until_kept(link)
                loads.append(await _seconds(plain, action))
                steps.append(await _seconds(reader, action))
        await plain.aclose()
        lookups = [await _lookup_seconds(link) for _ in range(200)]
    typical, slow = np.percentile(lookups, [50, 99]) * 1000
    parts = {"lookup_p50_ms": round(float(typical), 3), "lookup_p99_ms": round(float(slow), 3)}
    return compare("shared", steps[1:], loads[1:], unit="s a step", parts=parts)
