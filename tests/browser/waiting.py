"""Waiting for what a pool shows in its figures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import psutil

from browser.pool import BrowserPool, PoolStatistics


async def until(
    pool: BrowserPool, condition: Callable[[PoolStatistics], bool], *, seconds: float = 30.0
) -> PoolStatistics:
    """Wait until the pool's figures are like that."""
    now = pool.statistics()
    try:
        async with asyncio.timeout(seconds):
            while not condition(now := pool.statistics()):
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"it stayed at {now}") from None
    return now


def contexts(pool: BrowserPool) -> int:
    """Count the contexts that are open in all browsers of a pool."""
    return sum(len(home.browser.contexts) for home in pool._pair.running)


async def nothing_leased(pool: BrowserPool) -> None:
    """Wait until nobody holds a slot or waits for one, and nothing is open but what stands ready."""
    now = await until(pool, lambda now: contexts(pool) == now.idle + now.spare and now.warming == 0)
    assert (now.foreground, now.leased, now.loading, sum(now.waiting.values())) == (0, 0, 0, 0)


async def gone(processes: Sequence[psutil.Process], *, seconds: float = 20.0) -> None:
    """Wait until these processes have ended, while the event loop runs on."""
    _, alive = await asyncio.to_thread(psutil.wait_procs, processes, timeout=seconds)
    assert alive == []
