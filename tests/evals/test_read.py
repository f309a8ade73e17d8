"""The benchmark of reading: its page, its clock, and that it runs."""

from __future__ import annotations

import time

from evals.bench.documentation_page import FIRST_LINE, LAST_LINE, documentation_page
from evals.bench.loop_watch import LoopWatch
from evals.bench.read import read


def test_the_page_is_the_same_every_time_and_as_long_as_asked_for() -> None:
    page = documentation_page(characters=64_000)
    assert page == documentation_page(characters=64_000)
    assert 64_000 < len(page) < 72_000
    assert page.index(FIRST_LINE) < page.index("<pre>") < page.index("<table>") < page.index(LAST_LINE)


async def test_a_loop_that_is_held_up_is_seen() -> None:
    with LoopWatch() as watch:
        until = time.perf_counter() + 0.05
        while time.perf_counter() < until:
            pass
    assert 0.045 < watch.held_seconds <= watch.wall_seconds
    assert watch.longest_seconds == watch.held_seconds


async def test_the_benchmark_reads_the_page_both_ways() -> None:
    result = await read(pairs=2)
    assert (result.name, result.n) == ("read", 2)
    assert result.parts["held_ms"] > 0
    assert result.parts["alternative_held_ms"] > result.parts["longest_ms"]
