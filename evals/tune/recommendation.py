"""Which pool size and how many guesses to take: the knee under the user's limits.

Invariant: the smallest setting is recommended that comes close to the best one which memory and real navigations bear;
the reason names what keeps it from being larger, with the figures behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Literal

from browser.slots.sizing import Advice, Figures, SizingLimits, recommended_slots
from evals.tune.summary import SizeSummary, WaitSummary, ratio

CLOSE = 0.05
"""A setting is as good as the best where it is worse by no more than this share."""
NOISE = 0.15
"""Where the rounds disagree about which of the two is better, it may be worse by this share."""

LimitingFactor = Literal["memory", "foreground", "processor", "politeness", "guesses", "sweep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """What to set.

    Attributes:
        pool_size: Pages that may load ahead at once.
        max_guesses: Guesses a turn; None where no question was asked.
        limit: What keeps the pool from being larger.
        reason: The same in a sentence or two.
    """

    pool_size: int
    max_guesses: int | None
    limit: LimitingFactor
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    size: SizeSummary
    guesses: int | None
    costs: Mapping[int, float]
    """By round: seconds waited a question, or seconds a page where no question was asked."""
    advice: Advice

    @property
    def cost(self) -> float:
        return median(self.costs.values())

    @property
    def fits(self) -> bool:
        # Advice is never less than one slot, but one may be too many for the memory or for real navigations.
        return self.advice.limit == "demand" and self.advice.slots >= self.size.slots

    @property
    def shown(self) -> str:
        guesses = "" if self.guesses is None else f" and {_counted(self.guesses, 'guess', 'guesses')} a turn"
        gain = f"{1 / self.cost:.1f} pages/s" if self.guesses is None else f"{self.cost:.2f} s of waiting a question"
        return f"{_counted(self.size.slots, 'slot', 'slots')}{guesses} ({gain})"


def recommend(
    sizes: Sequence[SizeSummary], waits: Sequence[WaitSummary], *, memory_bytes: int, cores: float
) -> Recommendation | None:
    """Find the knee.

    Args:
        sizes: What was measured of each pool size.
        waits: What was measured of questions; without any, pages loaded a second decide.
        memory_bytes: What both browsers may take together, PSS.
        cores: Processors of this machine.

    Returns:
        None where too little was measured.
    """
    judge = partial(_advice, memory_bytes=memory_bytes, cores=cores)
    candidates = _candidates(sizes, waits, judge)
    if not candidates:
        return None
    fitting = [candidate for candidate in candidates if candidate.fits]
    if not fitting:
        smallest = [candidate for candidate in candidates if candidate.size.slots == candidates[0].size.slots]
        return _none_fits(min(smallest, key=lambda candidate: candidate.cost))
    best = min(fitting, key=lambda candidate: candidate.cost)
    chosen = next(candidate for candidate in fitting if _close(candidate, best))
    better = min(candidates, key=lambda candidate: candidate.cost)
    if not better.fits and not _close(chosen, better):
        return _held_back(chosen, better)
    return _plateau(chosen, best, [size for size in sizes if size.slots > chosen.size.slots])


def _advice(size: SizeSummary, acceptance: float | None, *, memory_bytes: int, cores: float) -> Advice:
    figures = Figures(
        slots=size.slots,
        wanted=size.slots,
        page_bytes=size.page_bytes,
        memory_bytes=memory_bytes - size.idle_bytes,
        cores=cores,
        slowdown=size.slowdown,
        acceptance=acceptance,
    )
    return recommended_slots(figures, SizingLimits(max_slots=size.slots))


def _candidates(
    sizes: Sequence[SizeSummary],
    waits: Sequence[WaitSummary],
    judge: Callable[[SizeSummary, float | None], Advice],
) -> list[_Candidate]:
    """Return every setting that was measured, smallest pool and fewest guesses first."""
    by_slots = {size.slots: size for size in sizes}
    asked = [wait for wait in waits if wait.guesses and wait.slots in by_slots]
    if asked:
        return [
            _Candidate(
                size=by_slots[wait.slots],
                guesses=wait.guesses,
                costs=dict(zip(wait.rounds, wait.exposed_seconds, strict=True)),
                advice=judge(by_slots[wait.slots], wait.used),
            )
            for wait in asked
        ]
    return [
        _Candidate(
            size=size,
            guesses=None,
            costs={
                number: 1 / max(rate, 1e-6) for number, rate in zip(size.rounds, size.pages_per_second, strict=True)
            },
            advice=judge(size, None),
        )
        for size in sizes
    ]


def _close(candidate: _Candidate, best: _Candidate) -> bool:
    found = ratio(candidate.costs, best.costs)
    if found is None:
        return False
    return found.middle <= 1 + CLOSE or (found.low <= 1 and found.middle <= 1 + NOISE)


def _none_fits(smallest: _Candidate) -> Recommendation:
    reason = f"Even {smallest.shown} is too much: {smallest.advice.reason}."
    return _recommended(smallest, _factor(smallest.advice), reason)


def _held_back(chosen: _Candidate, better: _Candidate) -> Recommendation:
    reason = f"{chosen.shown} is the best that fits; {better.shown} would be better, but {better.advice.reason}."
    return _recommended(chosen, _factor(better.advice), reason)


def _plateau(chosen: _Candidate, best: _Candidate, larger: Sequence[SizeSummary]) -> Recommendation:
    """Say why nothing larger is worth it."""
    if not larger:
        reason = f"{chosen.shown} is the largest size measured, and the best: measure larger ones with --sizes."
        return _recommended(chosen, "sweep", reason)
    beyond = "no setting is better"
    if best is not chosen:
        beyond = f"the best setting, {best.shown}, is no better than by {CLOSE:.0%} or by what differs between rounds"
    rates = [median(size.pages_per_second) for size in larger]
    factor: LimitingFactor
    if any("host-busy" in size.refusals for size in larger):
        factor, why = "politeness", "one host is not asked for more pages at once"
    elif max(rates) <= (1 + CLOSE) * median(chosen.size.pages_per_second):
        factor, why = "processor", "the machine or the site loads no more pages a second with more at once"
    else:
        factor, why = "guesses", "the pages that the target takes are loaded in time by then"
    return _recommended(chosen, factor, f"Beyond {chosen.shown} {beyond}: {why}.")


def _recommended(chosen: _Candidate, limit: LimitingFactor, reason: str) -> Recommendation:
    return Recommendation(pool_size=chosen.size.slots, max_guesses=chosen.guesses, limit=limit, reason=reason)


def _factor(advice: Advice) -> LimitingFactor:
    """Name what a sweep can find to be too much; the other limits belong to a pool at work."""
    if advice.limit == "demand":
        return "guesses"
    return "foreground" if advice.limit == "foreground" else "memory"


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"
