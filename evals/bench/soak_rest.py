"""What browsers still hold when no session is open.

Invariant: pages are counted by the browsers themselves, memory by the operating system; the pool is asked only for
slots, and how many it keeps ready.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import psutil

from browser.pool import BrowserPool, Slot
from evals.bench.processes import families, memory_bytes, steady

_MEBIBYTE = 1024 * 1024
_PATIENCE_SECONDS = 5.0
_LOOK_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """The browsers of a pool at rest.

    Attributes:
        pages_left: Pages open that no session holds and that are not kept ready.
        browsers_mebibytes: PSS of the browsers.
        all_mebibytes: PSS of everything this process has started, and of itself.
    """

    pages_left: int
    browsers_mebibytes: float
    all_mebibytes: float


async def rest(pool: BrowserPool, *, browsers: Callable[[], Sequence[psutil.Process]]) -> Rest:
    """Look at both browsers, which run afterwards; `browsers` finds their processes."""
    pages_left = await _pages_left(pool)
    await steady()
    return Rest(
        pages_left=pages_left,
        browsers_mebibytes=round(memory_bytes(families(browsers())) / _MEBIBYTE, 1),
        all_mebibytes=round(memory_bytes(families([psutil.Process()])) / _MEBIBYTE, 1),
    )


async def _pages_left(pool: BrowserPool) -> int:
    """Count pages, for a moment again and again: sessions are closed by the side."""
    owner = object()
    slot = await pool.foreground()
    try:
        async with pool.speculation(owner) as spare:
            deadline = asyncio.get_running_loop().time() + _PATIENCE_SECONDS
            while True:
                pages = sum([await _pages(held) for held in (slot, spare)])
                left = pages - 2 - pool.statistics().spare
                if left <= 0 or asyncio.get_running_loop().time() > deadline:
                    return max(0, left)
                await asyncio.sleep(_LOOK_SECONDS)
    finally:
        await pool.discard(slot)
        await pool.forget(owner)


async def _pages(slot: Slot) -> int:
    browser = slot.context.browser
    assert browser is not None  # noqa: S101 - a launched browser's context has one; tells the type checker
    session = await browser.new_browser_cdp_session()
    targets = await session.send("Target.getTargets")
    await session.detach()
    return sum(target["type"] == "page" for target in targets["targetInfos"])
