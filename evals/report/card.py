"""The few figures at the top of the page: whether it paid, and whether anything changed.

Invariant: what has no figure is a dash, not left out, so that nothing bad can hide by being missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evals.report.figures import OFF, Figures
from evals.report.wording import UNKNOWN, percent, seconds, span, times


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One figure.

    Attributes:
        name: What it is.
        figure: The figure.
        more: What to know with it.
    """

    name: str
    figure: str
    more: str


def cards(found: Figures) -> list[Card]:
    """Return the figures of the mode that detailed charts show, against `off`; none where no other was run."""
    main = found.main
    if main is None:
        return []
    versus = found.compared.get(main.mode)
    changed = "not compared" if versus is None else f"{len(versus.differing)} differ" if versus.differing else "yes"
    interval = f"95%: {span(versus.exposed.interval)}" if versus and versus.exposed.interval else "no interval"
    off = found.modes.get(OFF)
    unjudged = found.accuracy[main.mode].unjudged
    return [
        Card(name="Less exposed web time", figure=times(versus.exposed.ratio if versus else None), more=interval),
        Card(
            name="Exposed web time a turn",
            figure=f"{seconds(_mean(main.exposed_seconds))} s",
            more=f"off: {seconds(_mean(off.exposed_seconds))} s" if off else "off was not run",
        ),
        Card(
            name="Best question",
            figure=times(versus.best_ratio if versus else None),
            more=versus.best_item if versus else UNKNOWN,
        ),
        Card(
            name="Hits and joins",
            figure=percent(main.served),
            more=f"first guess {percent(main.hit1)}, first three {percent(main.hit3)}",
        ),
        Card(name="Of the bound reached", figure=percent(main.bound_share), more="100% is perfect overlap"),
        Card(name="Same trajectories as off", figure=changed, more="every action and the answer"),
        Card(
            name="Answered rightly",
            figure=percent(main.accuracy),
            more=(f"off: {percent(off.accuracy)}" if off else "off was not run")
            + (f", {unjudged:,} not judged" if unjudged else ""),
        ),
        Card(
            name="End to end",
            figure=f"{seconds(_mean(main.total_seconds))} s",
            more=f"off: {seconds(_mean(off.total_seconds))} s" if off else "off was not run",
        ),
    ]


def _mean(figures: Sequence[float]) -> float:
    return sum(figures) / len(figures)
