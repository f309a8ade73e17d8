"""What a sweep found, for people and for programs.

Invariant: a sweep that did not come to its end is called partial wherever it is shown.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from evals.tune.recommendation import Recommendation
from evals.tune.sample import Sample
from evals.tune.summary import SizeSummary, WaitSummary

_MEBIBYTE = 2**20
_LEGEND = (
    "p50, p95: one page loaded ahead; slowdown: a real navigation beside the full pool, against one alone;"
    " PSS: both browsers; lag: of the event loop, p95; wait: exposed web time a question, @3: with three guesses a turn"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of a sweep.

    Attributes:
        subject: What was measured on.
        asking: What was asked; empty where nothing was.
        think_seconds: Mean simulated thinking of a turn.
        rounds: How many rounds were planned.
        measured: Measurements made.
        planned: Measurements planned.
        cores: Processors of this machine.
        memory_bytes: What both browsers may take together.
        memory_rule: Where that figure comes from.
        sizes: What was measured of each pool size.
        waits: What was measured of questions.
        recommendation: What to set; None where too little was measured.
        samples: Every single measurement.
    """

    subject: str
    asking: str
    think_seconds: float
    rounds: int
    measured: int
    planned: int
    cores: float
    memory_bytes: int
    memory_rule: str
    sizes: tuple[SizeSummary, ...]
    waits: tuple[WaitSummary, ...]
    recommendation: Recommendation | None
    samples: tuple[Sample, ...]

    @property
    def partial(self) -> bool:
        """Whether the sweep did not come to its end."""
        return self.measured < self.planned

    def as_json(self) -> dict[str, Any]:
        """Return the object that `tune --json` prints."""
        return {
            "partial": self.partial,
            "measured": self.measured,
            "planned": self.planned,
            "subject": self.subject,
            "asking": self.asking,
            "think_s": self.think_seconds,
            "rounds": self.rounds,
            "machine": {"cores": self.cores, "memory_limit_mib": _mib(self.memory_bytes), "limit": self.memory_rule},
            "sizes": [_size_json(size) for size in self.sizes],
            "questions": [_wait_json(wait) for wait in self.waits],
            "recommendation": asdict(self.recommendation) if self.recommendation else None,
            "samples": [{"kind": type(sample).__name__} | asdict(sample) for sample in self.samples],
        }


def _size_json(size: SizeSummary) -> dict[str, Any]:
    return {
        "pool_size": size.slots,
        "pages_per_second": _spread(size.pages_per_second),
        "p50_s": size.p50_seconds and round(size.p50_seconds, 4),
        "p95_s": size.p95_seconds and round(size.p95_seconds, 4),
        "foreground_slowdown": round(size.slowdown, 3),
        "pss_mib": _mib(size.full_bytes),
        "pss_mib_a_page": _mib(size.page_bytes),
        "loop_lag_ms": round(1000 * size.lag_seconds, 1),
        "refusals": dict(size.refusals),
    }


def _wait_json(wait: WaitSummary) -> dict[str, Any]:
    return {
        "pool_size": wait.slots,
        "max_guesses": wait.guesses,
        "exposed_s": _spread(wait.exposed_seconds),
        "used": None if wait.used is None else round(wait.used, 3),
    }


def _spread(figures: tuple[float, ...]) -> dict[str, float]:
    return {"median": round(median(figures), 3), "low": round(min(figures), 3), "high": round(max(figures), 3)}


def _mib(figure: float) -> float:
    return round(figure / _MEBIBYTE, 1)


def show(report: Report) -> None:
    """Print the table, the recommendation and its reason on standard output."""
    out = Console(highlight=False, soft_wrap=True)
    if report.partial:
        out.print(f"PARTIAL: {report.measured} of {report.planned} measurements were made")
    out.print(f"measured on: {escape(report.subject)}")
    if report.waits:
        out.print(
            f"asked: {escape(report.asking)} (embedded target, {report.think_seconds:g} s of simulated thinking a turn)"
        )
    else:
        out.print("nothing was asked, so waiting for pages was not measured; pages a second decide")
    out.print(f"memory limit: {_mib(report.memory_bytes):,.0f} MiB ({report.memory_rule})")
    if report.sizes:
        out.print(_table(report))
        out.print(_LEGEND)
    for line in _closing(report):
        out.print(line)


def _closing(report: Report) -> list[str]:
    found = report.recommendation
    off = next((wait for wait in report.waits if not wait.guesses), None)
    lines = [] if off is None else [f"without speculation: {median(off.exposed_seconds):.2f} s of waiting a question"]
    if found is None:
        return [*lines, "recommended: nothing yet, too little was measured"]
    guesses = "" if found.max_guesses is None else f", max_guesses = {found.max_guesses}"
    return [*lines, f"recommended: pool_size = {found.pool_size}{guesses}", f"reason: {escape(found.reason)}"]


def _table(report: Report) -> Table:
    caps = sorted({wait.guesses for wait in report.waits if wait.guesses})
    waits = {(wait.slots, wait.guesses): wait for wait in report.waits}
    # Narrow: twelve columns are to fit a terminal of eighty characters.
    table = Table(
        title="partial result" if report.partial else None, box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False
    )
    columns = ("pool\nsize", "pages\n/s", "p50\ns", "p95\ns", "slow-\ndown", "PSS\nMiB", "a page\nMiB", "lag\nms")
    for name in (*columns, *(f"wait s\n@{cap}" for cap in caps)):
        table.add_column(name, justify="right", no_wrap=True)
    for size in report.sizes:
        table.add_row(*_cells(size, report), *(_wait_cell(waits.get((size.slots, cap)), report) for cap in caps))
    return table


def _cells(size: SizeSummary, report: Report) -> list[str]:
    found = report.recommendation
    mark = "* " if found is not None and found.pool_size == size.slots else ""
    return [
        f"{mark}{size.slots}",
        f"{median(size.pages_per_second):.2f}",
        *("-" if seconds is None else f"{seconds:.2f}" for seconds in (size.p50_seconds, size.p95_seconds)),
        f"{size.slowdown:.2f}",
        f"{_mib(size.full_bytes):,.0f}",
        f"{_mib(size.page_bytes):,.0f}",
        f"{1000 * size.lag_seconds:.0f}",
    ]


def _wait_cell(wait: WaitSummary | None, report: Report) -> str:
    if wait is None:
        return ""
    found = report.recommendation
    chosen = found is not None and (found.pool_size, found.max_guesses) == (wait.slots, wait.guesses)
    return f"{'* ' if chosen else ''}{median(wait.exposed_seconds):.2f}"
