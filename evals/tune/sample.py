"""What one measurement of a sweep gives.

Invariant: a sample holds what was measured and nothing that was concluded from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSample:
    """A pool of one size, kept full for a while.

    Attributes:
        round: Which round of the sweep it belongs to.
        slots: The pool's size: pages that loaded ahead at once.
        pages_per_second: Pages loaded ahead; one that began or ended outside the time counts for the part inside.
        load_seconds: How long each of these loads took; empty where none came to its end.
        alone_seconds: Real navigations with nothing beside them.
        beside_seconds: The same navigations, in the same order, beside the full pool.
        idle_bytes: PSS of the browsers before anything was loaded ahead.
        full_bytes: PSS of both browsers with the pool full.
        lag_seconds: How late the event loop ran its callbacks with the pool full, 95th percentile.
        refusals: Loads that gave no page to keep, by reason.
    """

    round: int
    slots: int
    pages_per_second: float
    load_seconds: tuple[float, ...]
    alone_seconds: tuple[float, ...]
    beside_seconds: tuple[float, ...]
    idle_bytes: int
    full_bytes: int
    lag_seconds: float
    refusals: Mapping[str, int] = field(default_factory=dict)

    @property
    def slowdown(self) -> float:
        """How many times as long a real navigation takes beside the full pool."""
        pairs = zip(self.beside_seconds, self.alone_seconds, strict=True)
        return median(beside / max(alone, 1e-6) for beside, alone in pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSample:
    """One question, asked with a pool size and a cap on guesses.

    Attributes:
        round: Which round of the sweep it belongs to; all settings are asked the same question in one round.
        slots: The pool's size.
        guesses: Guesses a turn at most; 0: speculation off.
        question: The question.
        exposed_seconds: How long the target waited for pages.
        total_seconds: How long the run took.
        pages: Pages read.
        hits: Pages that were there.
        joins: Pages that were on their way.
        misses: Pages of which nothing was known.
        speculated: Loads ahead.
        wasted: How many of them were not used.
    """

    round: int
    slots: int
    guesses: int
    question: str
    exposed_seconds: float
    total_seconds: float
    pages: int
    hits: int
    joins: int
    misses: int
    speculated: int
    wasted: int


Sample = LoadSample | QuestionSample
