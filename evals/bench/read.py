"""Reading a documentation page as the agent does, against its HTML turned into markdown as it is.

Invariant: both read the same loaded page, and a reading counts only when the page's first and last lines are in it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np
from markdownify import markdownify

from browser.page import read_again
from browser.pool import BrowserPool, PoolOptions, Slot
from evals.bench.documentation_page import FIRST_LINE, LAST_LINE, documentation_page
from evals.bench.loop_watch import LoopWatch
from evals.bench.result import Result, compare
from evals.folder_server import serve_folder

CHARACTERS = 64_000

Read = Callable[[Slot], Awaitable[str]]


async def read(*, pairs: int) -> Result:
    """Read one loaded page `pairs` times each way, in turn, and measure how long the event loop is held up."""
    with tempfile.TemporaryDirectory() as folder:
        html = documentation_page(characters=CHARACTERS)
        (Path(folder) / "index.html").write_text(html, encoding="utf-8")
        async with (
            serve_folder(Path(folder)) as url,
            BrowserPool(PoolOptions(speculation_slots=0)) as pool,
        ):
            pool.egress.rule.allow({"127.0.0.1"})
            slot = await pool.foreground()
            await slot.page.goto(url)
            ours, other = await _measure(slot, pairs)
            await pool.discard(slot)
    held = [[watch.held_seconds for watch in side] for side in (ours, other)]
    parts = {"page_characters": len(html), **_parts("", ours), **_parts("alternative_", other)}
    return compare("read", *held, unit="s that the event loop is held up", parts=parts)


async def _measure(slot: Slot, pairs: int) -> tuple[list[LoopWatch], list[LoopWatch]]:
    ways: tuple[Read, Read] = (_as_agent, _as_html)
    for way in ways:
        await _watched(way, slot)  # the first time is slower, either way
    watches: tuple[list[LoopWatch], list[LoopWatch]] = ([], [])
    for number in range(pairs):
        for side in (0, 1) if number % 2 else (1, 0):
            watches[side].append(await _watched(ways[side], slot))
    return watches


async def _watched(way: Read, slot: Slot) -> LoopWatch:
    with LoopWatch() as watch:
        markdown = await way(slot)
    if not (FIRST_LINE in markdown and LAST_LINE in markdown):
        raise RuntimeError("the page was not read whole")
    return watch


async def _as_agent(slot: Slot) -> str:
    return (await read_again(slot.page)).markdown


async def _as_html(slot: Slot) -> str:
    return str(markdownify(await slot.page.content()))


def _parts(side: str, watches: list[LoopWatch]) -> dict[str, float]:
    return {
        f"{side}held_ms": _median_ms([watch.held_seconds for watch in watches]),
        f"{side}longest_ms": _median_ms([watch.longest_seconds for watch in watches]),
        f"{side}wall_ms": _median_ms([watch.wall_seconds for watch in watches]),
    }


def _median_ms(seconds: list[float]) -> float:
    return round(1000 * float(np.median(seconds)), 1)
