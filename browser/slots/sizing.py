"""How many pages may load ahead at once, decided from what was measured.

Invariant: the decision is a pure function of the figures, the same for a sweep that was measured beforehand and for a
pool that is watched while it works; and it always says what set the limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

_MEBIBYTE = 2**20

Limit = Literal["demand", "memory", "foreground", "processor", "pressure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SizingLimits:
    """How far a pool may grow.

    Attributes:
        max_slots: Slots at most, whatever is measured.
        slots_per_core: Slots for each processor where nobody measured how much slower a real navigation gets.
        slowdown: How many times as long a real navigation may take beside a full pool.
        min_acceptance: Where a smaller share of the pages loaded ahead is used, the pool is too large.
    """

    max_slots: int = 16
    slots_per_core: int = 4
    slowdown: float = 1.2
    min_acceptance: float = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What was measured with a number of slots.

    Attributes:
        slots: The slots at the time.
        wanted: Pages that would load ahead at once if each had a slot.
        page_bytes: PSS that one page loaded ahead adds.
        memory_bytes: What all pages loaded ahead may take together; None where nothing limits them.
        cores: Processors of this machine.
        slowdown: How many times as long a real navigation takes beside a full pool; None: not measured.
        acceptance: Which share of the pages loaded ahead is used; None: not measured.
        pressure: What the machine is short of just now; None: nothing.
    """

    slots: int
    wanted: int
    page_bytes: float
    memory_bytes: float | None
    cores: float
    slowdown: float | None = None
    acceptance: float | None = None
    pressure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """How many slots to have.

    Attributes:
        slots: That many, at least one.
        limit: What set the number.
        reason: The same in words.
    """

    slots: int
    limit: Limit
    reason: str


def recommended_slots(figures: Figures, limits: SizingLimits = SizingLimits()) -> Advice:
    """Say how many slots a pool with these figures should have.

    What is wanted is granted, as far as memory, real navigations and the machine bear it.
    """
    caps = [demand(figures, limits), *_strains(figures, limits)]
    lowest = min(caps, key=lambda advice: advice.slots)
    return Advice(slots=max(1, lowest.slots), limit=lowest.limit, reason=lowest.reason)


def demand(figures: Figures, limits: SizingLimits = SizingLimits()) -> Advice:
    """Say how many slots are wanted, whatever the machine bears."""
    if figures.acceptance is not None and figures.acceptance < limits.min_acceptance:
        reason = f"only {figures.acceptance:.0%} of the pages loaded ahead are used"
        return Advice(slots=min(figures.wanted, figures.slots - 1), limit="demand", reason=reason)
    return Advice(slots=figures.wanted, limit="demand", reason=f"{figures.wanted} pages are to load ahead at once")


def _strains(figures: Figures, limits: SizingLimits) -> list[Advice]:
    found = [Advice(slots=limits.max_slots, limit="processor", reason=f"a pool has {limits.max_slots} slots at most")]
    if figures.memory_bytes is not None:
        fitting = int(figures.memory_bytes // max(figures.page_bytes, 1))
        reason = (
            f"{figures.memory_bytes / _MEBIBYTE:,.0f} MiB are left for pages loaded ahead,"
            f" and each takes {figures.page_bytes / _MEBIBYTE:,.0f} MiB"
        )
        found.append(Advice(slots=fitting, limit="memory", reason=reason))
    if figures.slowdown is None:
        reason = f"{limits.slots_per_core} pages at once are enough for each of {figures.cores:g} processors"
        found.append(Advice(slots=round(limits.slots_per_core * figures.cores), limit="processor", reason=reason))
    elif figures.slowdown >= limits.slowdown:
        reason = f"a real navigation takes {figures.slowdown:.2f} times as long beside {figures.slots} pages"
        found.append(Advice(slots=figures.slots - 1, limit="foreground", reason=reason))
    if figures.pressure is not None:
        reason = f"the machine is short of something: {figures.pressure}"
        found.append(Advice(slots=figures.slots // 2, limit="pressure", reason=reason))
    return found
