"""Pages read by the product, by plain Playwright and by crawl4ai, in one run, interleaved.

Invariant: all programs have warm browsers and warm HTTP caches, and read the same pages in the same random order, by
turns the first; an observation counts only when the page's own first and last text, and what is between, are in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from itertools import islice
from random import Random

import numpy as np
from rich.progress import Progress

from browser.pool import BrowserPool, PoolOptions
from evals.bench.contents import Contents, find_contents
from evals.bench.crawl4ai_reader import Crawl4aiReader
from evals.bench.navigate_cell import Cell
from evals.bench.navigate_plan import Place, Plan, pages_a_round
from evals.bench.navigate_target import targets
from evals.bench.page_memory import page_mebibytes
from evals.bench.page_readers import IDEAL, OurReader, PageReader, RawReader
from evals.bench.raw_browser import RawBrowser
from evals.bench.result import Result
from evals.bench.site_process import serving

_FINDERS = 4
_RESAMPLES = 2000


async def navigate(plan: Plan, progress: Progress) -> Result:
    """Measure every cell of the plan."""
    async with AsyncExitStack() as stack:
        raw = await stack.enter_async_context(RawBrowser.opened())
        known = await _find(raw, plan, progress)
        memory = await _memory(known, sessions=plan.sessions)
        readers = await _open(stack, raw, plan)
        steps = len(known) * len(plan.delays_milliseconds) * sum(map(plan.rounds, plan.concurrencies))
        advance = partial(progress.advance, progress.add_task("reading", total=steps))
        cells = [
            cell
            for place, pages in known.items()
            for delay_milliseconds in plan.delays_milliseconds
            for cell in await _read(readers, place, pages, delay_milliseconds, plan=plan, advance=advance)
        ]
    return _result(cells, memory)


async def _find(raw: RawBrowser, plan: Plan, progress: Progress) -> dict[Place, tuple[Contents, ...]]:
    tabs = [await raw.page() for _ in range(_FINDERS)]
    known = {}
    for place in progress.track(plan.places, description="finding pages"):
        async with serving(place.folder, delay_seconds=0) as base:
            known[place] = await find_contents(
                tabs, base, place.starts, wanted=plan.pages, quiet_seconds=plan.quiet_seconds
            )
        if not known[place]:
            progress.console.print(f"{place.name}: no page of it can be compared", highlight=False)
            del known[place]
    return known


async def _open(stack: AsyncExitStack, raw: RawBrowser, plan: Plan) -> list[PageReader]:
    most = max(plan.concurrencies)
    # No more limits than the other programs have: all loads are real, and all go to one host.
    options = PoolOptions(speculation_slots=0, foreground_slots=most, host_loads=most)
    pool = await stack.enter_async_context(BrowserPool(options))
    ours = OurReader(pool)
    stack.push_async_callback(ours.aclose)
    readers: list[PageReader] = [ours, RawReader(raw, ideal=False), RawReader(raw, ideal=True)]
    if plan.crawl4ai is not None:
        readers.append(await stack.enter_async_context(Crawl4aiReader.opened(plan.crawl4ai)))
    return readers


async def _memory(known: Mapping[Place, Sequence[Contents]], *, sessions: int) -> dict[str, float]:
    memory = {}
    for place, pages in known.items():
        async with serving(place.folder, delay_seconds=0) as base:
            memory[place.name] = await page_mebibytes(base, pages, sessions=sessions)
    return memory


async def _read(
    readers: Sequence[PageReader],
    place: Place,
    pages: Sequence[Contents],
    delay_milliseconds: int,
    *,
    plan: Plan,
    advance: Callable[[], None],
) -> list[Cell]:
    """Measure one site at one delay."""
    async with serving(place.folder, delay_seconds=delay_milliseconds / 1000) as base:
        most = max(plan.concurrencies)
        for reader in readers:
            await reader.read(base, [pages[0]] * most, concurrency=most)
        cells = []
        for concurrency in plan.concurrencies:
            cell = Cell(site=place.name, delay_milliseconds=delay_milliseconds, concurrency=concurrency)
            cell.rounds = {reader.name: [] for reader in readers}
            order = _order(pages)
            for number in range(plan.rounds(concurrency)):
                batch = list(islice(order, pages_a_round(concurrency)))
                first = number % len(readers)
                for reader in (*readers[first:], *readers[:first]):
                    cell.rounds[reader.name].append(await reader.read(base, batch, concurrency=concurrency))
                advance()
            cells.append(cell)
    return cells


def _order(pages: Sequence[Contents]) -> Iterator[Contents]:
    """Yield all pages in random order, again and again."""
    random = Random(0)  # noqa: S311 - a sample, no secret
    while True:
        yield from random.sample(pages, len(pages))


def _result(cells: Sequence[Cell], memory: dict[str, float]) -> Result:
    """Sum up: how much longer ours takes than the ideal wait, page by page."""
    ratios = np.array([ours / ideal for cell in cells for ours, ideal in cell.pairs(IDEAL)])
    picks = np.random.default_rng(0).integers(0, len(ratios), size=(_RESAMPLES, len(ratios)))
    low, high = np.percentile(np.median(ratios[picks], axis=1), [2.5, 97.5])
    return Result(
        name="navigate",
        ratio=round(float(np.median(ratios)), 4),
        interval=(round(float(low), 4), round(float(high), 4)),
        n=len(ratios),
        unit="pages; seconds of ours over those of plain Playwright with the ideal wait",
        parts={
            "contexts": "warm: each program keeps its context, and so its HTTP cache",
            "page_mebibytes": memory,
            "claims": [claim.as_json() for claim in targets(cells, page_mebibytes=memory)],
            "cells": [cell.as_json() for cell in cells],
        },
    )
