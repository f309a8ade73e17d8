"""What a latency study found, for people: a table, a list of comparisons, a CSV file and a picture.

Invariant: all of them show the same figures, those of `agent.probe.measures`.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.table import Table

from agent.errors import ConfigurationError
from agent.probe.measures import comparisons, latency
from agent.probe.record import Record, by_series

PICTURES = (".svg", ".png")

_COLUMNS = ("model", "tier", "place", "calls", "failed", "mean", "CoV", "min", "p50", "p95", "p99", "max", "max/min")


def table(records: Sequence[Record]) -> Table:
    """Show each series as a row; times in seconds."""
    shown = Table(title="latency of identical calls, in seconds")
    for column in (*_COLUMNS, "first token", "tokens/s"):
        shown.add_column(column, justify="left" if column in _COLUMNS[:3] else "right", overflow="fold")
    for series, calls in by_series(records).items():
        found = latency(calls)
        times = (found.min_seconds, found.p50_seconds, found.p95_seconds, found.p99_seconds, found.max_seconds)
        figures = (
            f"{found.mean_seconds:.2f}",
            f"{found.variation:.1%}",
            *(f"{seconds:.2f}" for seconds in times),
            f"{found.spread:.1f}",
        )
        shown.add_row(
            series.model,
            series.tier,
            series.place,
            str(found.calls),
            str(found.failures),
            *(measured if found.calls else "-" for measured in figures),
            _or_dash(found.first_token_p50_seconds),
            _or_dash(found.tokens_per_second),
        )
    return shown


def comparison_lines(records: Sequence[Record]) -> list[str]:
    """Say in a line each how tiers and days compare."""
    lines = []
    for each in comparisons(records):
        place = f" from {each.place}" if each.place else ""
        lines.append(
            f"{each.model}{place}, {each.what}: mean {each.first.mean_seconds:.2f} -> {each.second.mean_seconds:.2f} s"
            f" ({each.mean_ratio:.2f} times), CoV {each.first.variation:.1%} -> {each.second.variation:.1%}"
        )
    return lines


def as_json(records: Sequence[Record]) -> dict[str, Any]:
    """Return the object that `probe --json` prints."""
    return {
        "series": [
            {**asdict(series), "latency": latency(calls).as_json()} for series, calls in by_series(records).items()
        ],
        "comparisons": [asdict(each) for each in comparisons(records)],
    }


def write_csv(records: Sequence[Record], path: Path) -> None:
    """Write one line a series, the figures in seconds.

    Raises:
        ConfigurationError: The file cannot be written.
    """
    rows = [asdict(series) | latency(calls).as_json() for series, calls in by_series(records).items()]
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=[*rows[0]] if rows else ["model"])
            writer.writeheader()
            writer.writerows(rows)
    except OSError as error:
        raise _unwritable(path, error, "--csv") from error


def draw(records: Sequence[Record], path: Path) -> None:
    """Draw every call over the time of day, and each series' spread, into an SVG or PNG file.

    Raises:
        ConfigurationError: The file cannot be written.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - slow to import, and few runs draw

    figure = Figure(figsize=(11, 5), layout="constrained")
    over_time, spread = figure.subplots(1, 2, width_ratios=(2, 1), sharey=True)
    series = {
        str(each): replies
        for each, calls in by_series(records).items()
        if (replies := [call for call in calls if not call.error])
    }
    for name, calls in series.items():
        times = [datetime.fromisoformat(call.at) for call in calls]
        over_time.plot(times, [call.seconds for call in calls], marker=".", linewidth=0.8, label=name)
    if series:
        spread.boxplot([[call.seconds for call in calls] for calls in series.values()], tick_labels=[*series])
        over_time.legend(fontsize="small")
    over_time.set(yscale="log", ylabel="seconds a call (logarithmic)", xlabel="when", title="each call")
    over_time.tick_params(axis="x", rotation=30)
    spread.set(title="median, quartiles, range")
    spread.tick_params(axis="x", rotation=30)
    try:
        figure.savefig(path)
    except OSError as error:
        raise _unwritable(path, error, "--plot") from error


def _unwritable(path: Path, error: OSError, flag: str) -> ConfigurationError:
    return ConfigurationError(
        f"{path} cannot be written: {error.strerror}", hint=f"Give another place with {flag} FILE."
    )


def _or_dash(figure: float | None) -> str:
    return "-" if figure is None else f"{figure:.2f}"
