"""One cell of `navigate`: one site, one delay, one concurrency, every program; and what its figures are.

Invariant: programs are compared over the same pages in the same rounds, and only by observations that are complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evals.bench.page_readers import Load, Round
from evals.bench.result import compare

_RESAMPLES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """Ours over another program's.

    Attributes:
        value: The ratio.
        interval: Where 95 % of the resampled ratios lie.
    """

    value: float
    interval: tuple[float, float]


@dataclass(slots=True, kw_only=True)
class Cell:
    """What was measured where.

    Attributes:
        site: The site's name.
        delay_milliseconds: Added to each request.
        concurrency: Pages read at once.
        rounds: Per program, the same rounds.
    """

    site: str
    delay_milliseconds: int
    concurrency: int
    rounds: dict[str, list[Round]] = field(default_factory=dict)

    @property
    def others(self) -> list[str]:
        """The programs that the first one, ours, is compared with."""
        return list(self.rounds)[1:]

    @property
    def ours(self) -> str:
        """The first program."""
        return next(iter(self.rounds))

    def complete(self, program: str) -> float:
        """Return the share of complete observations."""
        return float(np.mean([load.complete for load in self._loads(program)]))

    def seconds(self, program: str, percentile: float) -> float | None:
        """Return a percentile of the seconds a complete observation took; None where there was none."""
        seconds = [load.seconds for load in self._loads(program) if load.complete]
        return float(np.percentile(seconds, percentile)) if seconds else None

    def pages_a_second(self, program: str) -> float:
        """Return how many complete observations a second gave."""
        return _rate(_sums(self.rounds[program]))

    def p50_ratio(self, other: str) -> Ratio | None:
        """Compare the medians, over pages that both read completely; None where there are hardly any."""
        pairs = self.pairs(other)
        if len(pairs) < 2:
            return None
        compared = compare("p50", *zip(*pairs, strict=True), unit="s")
        return Ratio(value=compared.ratio, interval=compared.interval)

    def pairs(self, other: str) -> list[tuple[float, float]]:
        """Return the seconds of ours and of another program, page by page, where both are complete."""
        both = zip(self._loads(self.ours), self._loads(other), strict=True)
        return [(mine.seconds, theirs.seconds) for mine, theirs in both if mine.complete and theirs.complete]

    def rate_ratio(self, other: str) -> Ratio | None:
        """Compare the complete pages a second, over rounds; None where the other had none in some round."""
        mine, theirs = _sums(self.rounds[self.ours]), _sums(self.rounds[other])
        if not theirs[:, 0].all():
            return None
        picks = np.random.default_rng(0).integers(0, len(mine), size=(_RESAMPLES, len(mine)))
        low, high = np.percentile(_rates(mine[picks]) / _rates(theirs[picks]), [2.5, 97.5])
        value = _rate(mine) / _rate(theirs)
        return Ratio(value=round(value, 4), interval=(round(float(low), 4), round(float(high), 4)))

    def as_json(self) -> dict[str, Any]:
        """Return its figures."""
        return {
            "site": self.site,
            "delay_milliseconds": self.delay_milliseconds,
            "concurrency": self.concurrency,
            "programs": {program: self._figures(program) for program in self.rounds},
        }

    def _figures(self, program: str) -> dict[str, Any]:
        p50, p95 = self.seconds(program, 50), self.seconds(program, 95)
        figures: dict[str, Any] = {
            "loads": len(self._loads(program)),
            "complete": round(self.complete(program), 4),
            "p50_s": p50 and round(p50, 4),
            "p95_s": p95 and round(p95, 4),
            "pages_a_second": round(self.pages_a_second(program), 3),
        }
        if program != self.ours:
            for name, ratio in (("p50", self.p50_ratio(program)), ("pages_a_second", self.rate_ratio(program))):
                figures[f"ours_{name}_ratio"] = ratio and ratio.value
                figures[f"ours_{name}_interval"] = ratio and list(ratio.interval)
        return figures

    def _loads(self, program: str) -> list[Load]:
        return [load for each in self.rounds[program] for load in each.loads]


def _sums(rounds: Sequence[Round]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return complete pages and seconds, a row a round."""
    return np.array([(sum(load.complete for load in each.loads), each.seconds) for each in rounds], dtype=float)


def _rates(sums: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    totals = sums.sum(axis=1)
    rates: np.ndarray[Any, np.dtype[np.float64]] = totals[:, 0] / totals[:, 1]
    return rates


def _rate(sums: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    return float(_rates(sums[np.newaxis])[0])
