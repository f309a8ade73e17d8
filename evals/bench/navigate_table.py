"""The result of `navigate` for a person: a table of cells, then the claims.

Invariant: it shows what the JSON holds, and nothing else; readable without colour.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from evals.bench.claim import print_claims
from evals.bench.result import Result

_WIDTH = 140


def print_navigate(result: Result) -> None:
    """Print on standard output."""
    console = Console(width=_WIDTH, highlight=False)
    table = Table(
        "site", "ms", "at once", "program", "complete", "p50 s", "p95 s", "pages/s", "p50 of ours", "pages/s of ours"
    )
    for cell in result.parts["cells"]:
        place = [cell["site"], str(cell["delay_milliseconds"]), str(cell["concurrency"])]
        for program, figures in cell["programs"].items():
            table.add_row(*place, program, *_row(figures))
            place = ["", "", ""]
        table.add_section()
    console.print(table)
    low, high = result.interval
    console.print(f"{result.name}: {result.ratio:.2f} ({low:.2f} to {high:.2f}, n={result.n} {result.unit})")
    for site, mebibytes in result.parts["page_mebibytes"].items():
        console.print(f"PSS of a loaded page, {site}: {mebibytes} MiB")
    print_claims(console, result.parts["claims"])


def _row(figures: Mapping[str, Any]) -> tuple[str, ...]:
    p50, p95 = figures["p50_s"], figures["p95_s"]
    return (
        f"{figures['complete']:.0%}",
        "-" if p50 is None else f"{p50:.3f}",
        "-" if p95 is None else f"{p95:.3f}",
        f"{figures['pages_a_second']:.2f}",
        _ratio(figures, "p50"),
        _ratio(figures, "pages_a_second"),
    )


def _ratio(figures: Mapping[str, Any], name: str) -> str:
    ratio = figures.get(f"ours_{name}_ratio")
    if ratio is None:
        return "-" if f"ours_{name}_ratio" in figures else ""
    low, high = figures[f"ours_{name}_interval"]
    return f"{ratio:.2f} ({low:.2f} to {high:.2f})"
