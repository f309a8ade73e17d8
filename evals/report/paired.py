"""Which questions modes can be compared on, and how sure a comparison is.

Invariant: modes are compared on the same questions. A question that one of them lacks, or could not do, is left out of
all of them, and said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from evals.runs.record import Record

MODES = ("off", "lru", "random", "rank", "draft", "spec", "oracle")
"""In the order in which reports show them; modes of other names follow."""

FLOOR_SECONDS = 1e-3
"""Waits are not told apart below this, so that a ratio over a wait of nothing stays a number."""

_RESAMPLES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """The questions that all modes have.

    Attributes:
        items: Their ids, in the order in which they were first met.
        by_mode: Each mode's records of them, in that order.
        left_out: Why each other question is left out, by its id.
        failed: How many questions ended in an error, by mode.
        unusable: Modes in which every question did, and which therefore are not compared.
        apart: How many questions a mode was asked in another start of the run than the first mode, `off` where it was
            run: these were not asked side by side.
    """

    items: tuple[str, ...]
    by_mode: Mapping[str, tuple[Record, ...]]
    left_out: Mapping[str, str]
    failed: Mapping[str, int]
    unusable: tuple[str, ...] = ()
    apart: Mapping[str, int] = field(default_factory=dict)

    @property
    def reasons(self) -> Mapping[str, int]:
        """How many questions are left out, by why."""
        return dict(Counter(self.left_out.values()).most_common())


def pair(records: Sequence[Record]) -> Pairing:
    """Pair records by question; of one that was asked again in the same mode, the last counts."""
    found = {(record.mode, record.item): record for record in records}
    asked = dict.fromkeys(record.item for record in records)
    failed = Counter(record.mode for record in found.values() if _has_failed(record))
    usable = {mode for (mode, _), record in found.items() if not _has_failed(record)}
    modes = _ordered(usable)
    left_out = {item: why for item in asked if (why := _why_left_out(item, modes, found))}
    items = tuple(item for item in asked if item not in left_out)
    by_mode = {mode: tuple(found[mode, item] for item in items) for mode in modes}
    return Pairing(
        items=items,
        by_mode=by_mode,
        left_out=left_out,
        failed=dict(failed),
        unusable=_ordered({mode for mode, _ in found} - usable),
        apart=_apart(by_mode),
    )


def _apart(by_mode: Mapping[str, Sequence[Record]]) -> dict[str, int]:
    first = next(iter(by_mode.values()), ())
    counted = {
        mode: sum(one.start != other.start for one, other in zip(first, each, strict=True))
        for mode, each in by_mode.items()
    }
    return {mode: count for mode, count in counted.items() if count}


def _has_failed(record: Record) -> bool:
    return record.status == "error" or bool(record.broken)


def _ordered(modes: set[str]) -> tuple[str, ...]:
    return tuple(sorted(modes, key=lambda mode: (MODES.index(mode) if mode in MODES else len(MODES), mode)))


def _why_left_out(item: str, modes: Sequence[str], found: Mapping[tuple[str, str], Record]) -> str:
    missing = [mode for mode in modes if (mode, item) not in found]
    failed = [mode for mode in modes if (mode, item) in found and _has_failed(found[mode, item])]
    if failed:
        return f"error in {' and '.join(failed)}"
    if missing:
        return f"not asked in {' and '.join(missing)}"
    return "" if modes else "error in every mode"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """How many times less one side took than the other.

    Attributes:
        ratio: The mean of the one over the mean of the other.
        interval: Where 95 % of the ratios lie when whole pairs are resampled; None for a single pair.
        n: Pairs.
    """

    ratio: float
    interval: tuple[float, float] | None
    n: int

    def __str__(self) -> str:
        if self.interval is None:
            return f"{self.ratio:.2f}"
        low, high = self.interval
        return f"{self.ratio:.2f} ({low:.2f} to {high:.2f})"


def ratio_of_means(seconds: Sequence[float], fewer_seconds: Sequence[float]) -> Ratio:
    """Return the ratio of two paired means, both at least `FLOOR_SECONDS`, with a bootstrap interval over pairs.

    Raises:
        ValueError: There are no pairs, or one side has more.
    """
    if not seconds or len(seconds) != len(fewer_seconds):
        raise ValueError(f"no pairs: {len(seconds)} and {len(fewer_seconds)} measurements")
    pairs = np.column_stack([seconds, fewer_seconds])
    means = np.maximum(FLOOR_SECONDS, pairs.mean(axis=0))
    return Ratio(ratio=float(means[0] / means[1]), interval=_interval(pairs), n=len(pairs))


def _interval(pairs: np.ndarray) -> tuple[float, float] | None:
    if len(pairs) < 2:
        return None
    means = np.maximum(FLOOR_SECONDS, _weights(len(pairs)) @ pairs)
    low, high = np.percentile(means[:, 0] / means[:, 1], [2.5, 97.5])
    return (float(low), float(high))


@lru_cache(maxsize=1)
def _weights(count: int) -> np.ndarray:
    """Return how much each pair weighs in each resample; a report draws many intervals over the same questions."""
    picks = np.random.default_rng(0).integers(0, count, size=(_RESAMPLES, count))
    cells = picks + count * np.arange(_RESAMPLES)[:, np.newaxis]
    return np.bincount(cells.ravel(), minlength=_RESAMPLES * count).reshape(_RESAMPLES, count) / count
