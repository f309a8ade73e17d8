"""How much memory a loaded page takes: the browser with some sessions, each on a page, against the browser with none.

Invariant: only the measured pool's own browsers count.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from itertools import cycle, islice

from browser.action import Visit
from browser.environment import WebEnvironment
from browser.pool import BrowserPool, PoolOptions
from evals.bench.contents import Contents
from evals.bench.processes import browsers, families, memory_bytes, steady
from evals.bench.raw_browser import LOOPBACK

_MEBIBYTE = 1024 * 1024


async def page_mebibytes(base: str, pages: Sequence[Contents], *, sessions: int) -> float:
    """Return the PSS of one page, in MiB, out of so many at once, each of a session of its own."""
    before = set(browsers())
    options = PoolOptions(speculation_slots=0, foreground_slots=sessions)
    async with BrowserPool(options) as pool, AsyncExitStack() as stack:
        own = set(browsers()) - before
        await steady()
        empty_bytes = memory_bytes(families(own))
        for page in islice(cycle(pages), sessions):
            session = WebEnvironment(pool, named_hosts={LOOPBACK})
            stack.push_async_callback(session.aclose)
            await session.step(Visit(base + page.path))
        await steady()
        full_bytes = memory_bytes(families(own))
    return round((full_bytes - empty_bytes) / sessions / _MEBIBYTE, 2)
