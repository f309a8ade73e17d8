"""The samples of a sweep, put together by setting.

Invariant: two settings are compared round by round, in pairs that were measured under the same conditions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from evals.bench.result import compare
from evals.tune.sample import LoadSample, QuestionSample


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeSummary:
    """All that was measured with one pool size.

    Attributes:
        slots: The size.
        rounds: In how many rounds it was measured.
        pages_per_second: For each of these rounds, in the order of the rounds.
        p50_seconds: Half of the pages loaded ahead took no longer; None where there were none.
        p95_seconds: All but one in twenty took no longer; None where there were none.
        slowdown: How many times as long a real navigation takes beside the full pool; median over the rounds.
        idle_bytes: PSS of the browsers before anything was loaded ahead; the median.
        full_bytes: PSS of both browsers with the pool full; the largest.
        lag_seconds: How late the event loop ran its callbacks; the median of the 95th percentiles.
        refusals: Loads that gave no page to keep, by reason.
    """

    slots: int
    rounds: tuple[int, ...]
    pages_per_second: tuple[float, ...]
    p50_seconds: float | None
    p95_seconds: float | None
    slowdown: float
    idle_bytes: int
    full_bytes: int
    lag_seconds: float
    refusals: Mapping[str, int]

    @property
    def page_bytes(self) -> float:
        """PSS that each page loaded ahead adds, its share of the second browser included."""
        return max(0.0, (self.full_bytes - self.idle_bytes) / self.slots)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitSummary:
    """How long a target waited for pages with one setting.

    Attributes:
        slots: The pool's size.
        guesses: Guesses a turn at most; 0: speculation off.
        rounds: In which rounds it was measured.
        exposed_seconds: The exposed web time of a question in each of these rounds.
        used: Which share of the pages loaded ahead was used; None where there were none.
    """

    slots: int
    guesses: int
    rounds: tuple[int, ...]
    exposed_seconds: tuple[float, ...]
    used: float | None


def sizes_of(samples: Sequence[LoadSample]) -> tuple[SizeSummary, ...]:
    """Put the samples of each pool size together, smallest first."""
    return tuple(
        _size(slots, sorted((sample for sample in samples if sample.slots == slots), key=lambda sample: sample.round))
        for slots in sorted({sample.slots for sample in samples})
    )


def _size(slots: int, samples: Sequence[LoadSample]) -> SizeSummary:
    load_seconds = [seconds for sample in samples for seconds in sample.load_seconds]
    refusals: Counter[str] = Counter()
    for sample in samples:
        refusals.update(sample.refusals)
    return SizeSummary(
        slots=slots,
        rounds=tuple(sample.round for sample in samples),
        pages_per_second=tuple(sample.pages_per_second for sample in samples),
        p50_seconds=float(np.percentile(load_seconds, 50)) if load_seconds else None,
        p95_seconds=float(np.percentile(load_seconds, 95)) if load_seconds else None,
        slowdown=median(sample.slowdown for sample in samples),
        idle_bytes=round(median(sample.idle_bytes for sample in samples)),
        full_bytes=max(sample.full_bytes for sample in samples),
        lag_seconds=median(sample.lag_seconds for sample in samples),
        refusals=refusals,
    )


def waits_of(samples: Sequence[QuestionSample]) -> tuple[WaitSummary, ...]:
    """Put the questions of each setting together, smallest pool and fewest guesses first."""
    settings = sorted({(sample.slots, sample.guesses) for sample in samples})
    return tuple(
        _wait(
            sorted(
                (sample for sample in samples if (sample.slots, sample.guesses) == setting),
                key=lambda sample: sample.round,
            )
        )
        for setting in settings
    )


def _wait(samples: Sequence[QuestionSample]) -> WaitSummary:
    speculated = sum(sample.speculated for sample in samples)
    wasted = sum(sample.wasted for sample in samples)
    return WaitSummary(
        slots=samples[0].slots,
        guesses=samples[0].guesses,
        rounds=tuple(sample.round for sample in samples),
        exposed_seconds=tuple(sample.exposed_seconds for sample in samples),
        used=(speculated - wasted) / speculated if speculated else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """How one setting compares with another over the rounds in which both were measured.

    Attributes:
        middle: The ratio of the medians.
        low: Where the 95 % interval begins.
        high: Where it ends.
    """

    middle: float
    low: float
    high: float


def ratio(ours: Mapping[int, float], other: Mapping[int, float]) -> Ratio | None:
    """Compare figures by round; None where no round has both."""
    both = sorted(ours.keys() & other.keys())
    if not both:
        return None
    smallest = 1e-6  # a wait of nothing at all is one that nobody can measure
    pairs = [(max(ours[number], smallest), max(other[number], smallest)) for number in both]
    found = compare("", [pair[0] for pair in pairs], [pair[1] for pair in pairs], unit="")
    return Ratio(middle=found.ratio, low=found.interval[0], high=found.interval[1])
