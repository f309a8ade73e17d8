"""What `navigate` is to reach, and whether it was.

Invariant: a target holds only where it holds in every cell it speaks of; a program that read a page incompletely there
sets no mark to beat.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from evals.bench.claim import Claim, at_least, at_most
from evals.bench.navigate_cell import Cell, Ratio
from evals.bench.page_readers import CRAWLER, IDEAL

MAX_P50_OVER_CRAWLER = 0.6
MAX_P50_OVER_IDEAL = 1.3
MIN_RATE_OVER_CRAWLER = 1.0
MAX_PAGE_MEBIBYTES = 31.0


def targets(cells: Sequence[Cell], *, page_mebibytes: Mapping[str, float]) -> list[Claim]:
    """Judge what was measured."""
    complete = {_name(cell): cell.complete(cell.ours) for cell in cells}
    over_crawler = _ratios(cells, CRAWLER, Cell.p50_ratio)
    over_ideal = _ratios(cells, IDEAL, Cell.p50_ratio)
    rates = _ratios(cells, CRAWLER, Cell.rate_ratio)
    return [
        at_least("share of complete observations 1", complete, 1.0),
        at_most(f"p50 at most {MAX_P50_OVER_CRAWLER} of crawl4ai's", over_crawler, MAX_P50_OVER_CRAWLER),
        at_most(f"p50 at most {MAX_P50_OVER_IDEAL} of the ideal wait's", over_ideal, MAX_P50_OVER_IDEAL),
        at_least("pages a second at least crawl4ai's", rates, MIN_RATE_OVER_CRAWLER),
        at_most(f"PSS of a loaded page at most {MAX_PAGE_MEBIBYTES:g} MiB", page_mebibytes, MAX_PAGE_MEBIBYTES),
    ]


def _name(cell: Cell) -> str:
    return f"{cell.site}, {cell.delay_milliseconds} ms, {cell.concurrency} at once"


def _ratios(cells: Sequence[Cell], other: str, ratio: Callable[[Cell, str], Ratio | None]) -> dict[str, float]:
    found = {_name(cell): ratio(cell, other) for cell in cells if other in cell.rounds and cell.complete(other) == 1.0}
    return {name: compared.value for name, compared in found.items() if compared is not None}
