"""What a benchmark found: a ratio of medians, and how sure it is.

Invariant: the interval comes from resampling whole pairs, so that what slows the machine for a while slows both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

_RESAMPLES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A comparison of ours with the alternative.

    Attributes:
        name: The benchmark.
        ratio: Median of ours over median of the alternative.
        interval: Where 95 % of the resampled ratios lie.
        n: Pairs measured.
        unit: What was measured, and in what unit.
        parts: Further figures by name.
    """

    name: str
    ratio: float
    interval: tuple[float, float]
    n: int
    unit: str
    parts: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return asdict(self) | {"interval": list(self.interval)}

    def __str__(self) -> str:
        low, high = self.interval
        lines = [f"{self.name}: {self.ratio:.3f} ({low:.3f} to {high:.3f}, n={self.n}; {self.unit})"]
        return "\n".join([*lines, *(f"  {name}: {value}" for name, value in self.parts.items())])


def compare(
    name: str, ours: Sequence[float], other: Sequence[float], *, unit: str, parts: dict[str, Any] | None = None
) -> Result:
    """Compare paired measurements: the ratio of their medians, with a bootstrap interval over pairs."""
    pairs = np.column_stack([ours, other])
    random = np.random.default_rng(0)
    picks = random.integers(0, len(pairs), size=(_RESAMPLES, len(pairs)))
    medians = np.median(pairs[picks], axis=1)
    low, high = np.percentile(medians[:, 0] / medians[:, 1], [2.5, 97.5])
    middle = np.median(pairs, axis=0)
    return Result(
        name=name,
        ratio=round(float(middle[0] / middle[1]), 4),
        interval=(round(float(low), 4), round(float(high), 4)),
        n=len(pairs),
        unit=unit,
        parts={"ours": round(float(middle[0]), 4), "alternative": round(float(middle[1]), 4), **(parts or {})},
    )


def compare_shares(
    name: str, ours: Sequence[int], other: Sequence[int], *, unit: str, parts: dict[str, Any] | None = None
) -> Result:
    """Compare how often each of two was right in the same cases: the ratio, with a bootstrap interval over cases."""
    pairs = np.column_stack([ours, other])
    picks = np.random.default_rng(0).integers(0, len(pairs), size=(_RESAMPLES, len(pairs)))
    sums = pairs[picks].sum(axis=1)
    low, high = np.percentile(sums[:, 0] / np.maximum(1, sums[:, 1]), [2.5, 97.5])
    return Result(
        name=name,
        ratio=round(sum(ours) / max(1, sum(other)), 3),
        interval=(round(float(low), 3), round(float(high), 3)),
        n=len(pairs),
        unit=unit,
        parts=parts or {},
    )
