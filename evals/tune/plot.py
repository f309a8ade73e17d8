"""The result of a sweep as a picture: four small charts over the pool size.

Invariant: every axis says its unit, and each chart shows which size is recommended.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from agent.errors import ConfigurationError
from evals.tune.report import Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".svg", ".png")
_MEBIBYTE = 2**20


def draw(report: Report, path: Path) -> None:
    """Draw the charts into an SVG or PNG file, by its suffix.

    Raises:
        ConfigurationError: The file cannot be written.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - slow to import, and few runs draw

    # A figure made without pyplot needs no display: its own canvas is Agg, or the one of the file's format.
    figure = Figure(figsize=(10, 7), layout="constrained")
    rate, seconds, memory, waiting = figure.subplots(2, 2).flat
    _draw_rate(rate, report)
    _draw_seconds(seconds, report)
    _draw_memory(memory, report)
    _draw_waiting(waiting, report)
    for axes in (rate, seconds, memory, waiting):
        _finish(axes, report)
    partial = f" (partial: {report.measured} of {report.planned} measurements)" if report.partial else ""
    figure.suptitle(f"speccache tune on {report.subject}{partial}", parse_math=False)
    try:
        figure.savefig(path)
    except OSError as error:
        raise ConfigurationError(
            f"the plot {path} cannot be written: {error.strerror}", hint="Give another place with --plot FILE."
        ) from error


def _slots(report: Report) -> list[int]:
    return [size.slots for size in report.sizes]


def _draw_spread(axes: Axes, slots: Sequence[int], figures: Sequence[Sequence[float]], *, label: str = "") -> None:
    """Draw medians, with bars from the smallest to the largest round."""
    middles = [median(each) for each in figures]
    below = [middle - min(each) for middle, each in zip(middles, figures, strict=True)]
    above = [max(each) - middle for middle, each in zip(middles, figures, strict=True)]
    axes.errorbar(slots, middles, yerr=[below, above], marker="o", capsize=3, label=label)


def _draw_rate(axes: Axes, report: Report) -> None:
    _draw_spread(axes, _slots(report), [size.pages_per_second for size in report.sizes])
    axes.set(title="Throughput", ylabel="pages loaded ahead a second")


def _draw_seconds(axes: Axes, report: Report) -> None:
    for label, figures in (
        ("p50", [size.p50_seconds for size in report.sizes]),
        ("p95", [size.p95_seconds for size in report.sizes]),
    ):
        points = [(slots, figure) for slots, figure in zip(_slots(report), figures, strict=True) if figure is not None]
        axes.plot([slots for slots, _ in points], [figure for _, figure in points], marker="o", label=label)
    axes.set(title="One page loaded ahead", ylabel="seconds")


def _draw_memory(axes: Axes, report: Report) -> None:
    axes.plot(_slots(report), [size.full_bytes / _MEBIBYTE for size in report.sizes], marker="o", label="full pool")
    axes.axhline(report.memory_bytes / _MEBIBYTE, label="limit", color="tab:red", linestyle=":")
    axes.set(title="Memory of both browsers", ylabel="PSS, MiB")


def _draw_waiting(axes: Axes, report: Report) -> None:
    axes.set(title="Waiting for pages", ylabel="exposed web time a question, seconds")
    for guesses in sorted({wait.guesses for wait in report.waits if wait.guesses}):
        waits = [wait for wait in report.waits if wait.guesses == guesses]
        label = f"{guesses} {'guess' if guesses == 1 else 'guesses'} a turn"
        _draw_spread(axes, [wait.slots for wait in waits], [wait.exposed_seconds for wait in waits], label=label)
    for wait in report.waits:
        if not wait.guesses:
            axes.axhline(median(wait.exposed_seconds), label="without speculation", color="tab:red", linestyle=":")
    if not report.waits:
        axes.text(0.5, 0.5, "not measured", transform=axes.transAxes, ha="center")


def _finish(axes: Axes, report: Report) -> None:
    axes.set_xlabel("pool size (pages loading ahead at once)")
    axes.set_xticks(_slots(report))
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    if report.recommendation is not None:
        size = report.recommendation.pool_size
        axes.axvline(size, color="tab:green", linestyle="--", label=f"recommended: {size}")
    if axes.get_legend_handles_labels()[0]:
        axes.legend()
