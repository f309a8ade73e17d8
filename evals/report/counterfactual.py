"""The speed-up as the code published with the SpecCache paper computes it, from the same records.

That code overlaps nothing: a page counts as there, at no cost, once a guess of this or an earlier turn named it, and
"no cache" is the sum of all loads of the same run (arXiv 2510.16276 and its repository). It differs from what is
measured here, in both directions:

- it takes a named page as loaded, though its load was refused, failed, or was still under way when it was asked for;
- it takes loads ahead as free, though they share the machine and the site with the page that is waited for;
- its other side is computed, from loads that ran beside loads ahead, where ours is a run of its own without any;
- it counts every guess, where here one that was not taken up, for lack of room, does not count as named.

A page that is still kept from an earlier visit costs nothing on either side, as in that code.

Invariant: nothing here is a measured wait, and every report that shows it says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from evals.report.paired import Ratio, ratio_of_means
from evals.runs.record import PageStep, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterfactual:
    """What the published code would report of one mode.

    Attributes:
        named: Share of the steps after the first that had been named: the published hit rate; None: no such steps.
        all_seconds: Mean web time of a question, every page loaded and waited for.
        rest_seconds: The same with named pages for nothing.
        speedup: The first over the second.
        a_turn: The same of web time a turn, the mean of the questions: what stands beside the measured figure.
    """

    named: float | None
    all_seconds: float
    rest_seconds: float
    speedup: Ratio
    a_turn: Ratio


def counterfactual(records: Sequence[Record]) -> Counterfactual:
    """Compute the published figure for the records of one mode, of which there is at least one."""
    every = [_seconds(record.steps) for record in records]
    rest = [_seconds(_charged(record.steps)) for record in records]
    later = [step.named for record in records for step in record.steps[1:] if step.kind != "direct"]
    return Counterfactual(
        named=mean(later) if later else None,
        all_seconds=mean(every),
        rest_seconds=mean(rest),
        speedup=ratio_of_means(every, rest),
        a_turn=ratio_of_means(_a_turn(every, records), _a_turn(rest, records)),
    )


def _a_turn(amounts: Sequence[float], records: Sequence[Record]) -> list[float]:
    return [amount / max(1, record.turns) for amount, record in zip(amounts, records, strict=True)]


def _charged(steps: Sequence[PageStep]) -> list[PageStep]:
    """Return the steps that the published code makes the target wait for: the first, and those nobody named."""
    return [step for place, step in enumerate(steps) if place == 0 or not step.named]


def _seconds(steps: Sequence[PageStep]) -> float:
    return sum(step.load_seconds for step in steps)
