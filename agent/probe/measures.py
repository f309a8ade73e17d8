"""What a latency study says of each series, by the measures of the paper (arXiv 2510.16276, section 2).

Invariant: only calls that gave a reply are measured; those that failed are counted beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from agent.probe.record import Record, Series, by_series

_COUNTS = ("calls", "failures")


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """How long alike calls took.

    Attributes:
        calls: Calls that gave a reply.
        failures: Calls that gave none.
        mean_seconds: Their mean.
        variation: Coefficient of variation: standard deviation (of the sample) over mean, 0.26 for 26 %.
        min_seconds: The quickest.
        p50_seconds: The median.
        p95_seconds: The 95th percentile.
        p99_seconds: The 99th percentile; of fewer than 100 calls it is little more than the slowest.
        max_seconds: The slowest.
        spread: The slowest over the quickest.
        first_token_p50_seconds: The median until the first piece of text; None where none was measured.
        tokens_per_second: Tokens of all replies over the time of all calls; None where the endpoint does not count.
    """

    calls: int
    failures: int
    mean_seconds: float = 0.0
    variation: float = 0.0
    min_seconds: float = 0.0
    p50_seconds: float = 0.0
    p95_seconds: float = 0.0
    p99_seconds: float = 0.0
    max_seconds: float = 0.0
    spread: float = 0.0
    first_token_p50_seconds: float | None = None
    tokens_per_second: float | None = None

    def as_json(self) -> dict[str, float | int | None]:
        """Return the figures by name; without a reply nothing was measured."""
        measured = self.calls > 0
        return {name: value if measured or name in _COUNTS else None for name, value in asdict(self).items()}


def latency(records: Sequence[Record]) -> Latency:
    """Measure calls that are alike."""
    replies = [record for record in records if not record.error]
    failures = len(records) - len(replies)
    if not replies:
        return Latency(calls=0, failures=failures)
    seconds = np.array([record.seconds for record in replies])
    p50, p95, p99 = np.percentile(seconds, [50, 95, 99])
    mean, least = float(seconds.mean()), float(seconds.min())
    deviation = float(seconds.std(ddof=1)) if len(seconds) > 1 else 0.0
    firsts = [record.first_token_seconds for record in replies if record.first_token_seconds is not None]
    tokens = sum(record.output_tokens for record in replies)
    return Latency(
        calls=len(replies),
        failures=failures,
        mean_seconds=mean,
        variation=deviation / mean if mean else 0.0,
        min_seconds=least,
        p50_seconds=float(p50),
        p95_seconds=float(p95),
        p99_seconds=float(p99),
        max_seconds=float(seconds.max()),
        spread=float(seconds.max()) / least if least else 0.0,
        first_token_p50_seconds=float(np.median(firsts)) if firsts else None,
        tokens_per_second=tokens / float(seconds.sum()) if tokens else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two sets of calls to the same model from the same place.

    Attributes:
        model: The model.
        place: The place.
        what: What differs: two tiers, or the first and the last day.
        first: The set compared with.
        second: The set compared.
        mean_ratio: The second mean over the first.
        variation_ratio: The second coefficient of variation over the first; None where the first is zero.
    """

    model: str
    place: str
    what: str
    first: Latency
    second: Latency
    mean_ratio: float
    variation_ratio: float | None


def comparisons(records: Sequence[Record]) -> list[Comparison]:
    """Compare each tier of a model with its first one, and each series' days with its first day."""
    found = []
    series = by_series(records)
    firsts: dict[tuple[str, str], Series] = {}
    for each, calls in series.items():
        first = firsts.setdefault((each.model, each.place), each)
        if first is not each:
            found.append(_compared(each, f"{each.tier} against {first.tier}", series[first], calls))
    for each, calls in series.items():
        days = sorted({record.day for record in calls})
        for day in days[1:]:
            before = [record for record in calls if record.day == days[0]]
            found.append(
                _compared(each, f"{each.tier}, {day} against {days[0]}", before, [r for r in calls if r.day == day])
            )
    return [each for each in found if each is not None]


def _compared(series: Series, what: str, first: Sequence[Record], second: Sequence[Record]) -> Comparison | None:
    one, other = latency(first), latency(second)
    if not one.mean_seconds or not other.calls:
        return None
    return Comparison(
        model=series.model,
        place=series.place,
        what=what,
        first=one,
        second=other,
        mean_ratio=other.mean_seconds / one.mean_seconds,
        variation_ratio=other.variation / one.variation if one.variation else None,
    )
