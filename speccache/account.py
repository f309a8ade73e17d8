"""What speculation gained and cost in one run, counted from events.

Invariant: every number is a sum over events; nothing is estimated.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from speccache.events import Event, EventKind


@dataclass(slots=True, kw_only=True)
class Account:
    """A listener that counts.

    Attributes:
        hits: Actions whose observation was there.
        joins: Actions whose observation was on its way.
        misses: Actions of which nothing was known.
        hits_at: How many of all these were among the turn's first 1, 2, 3 … guesses, by that number.
        speculated: Speculative loads started.
        hidden_seconds: Load time that ran behind the target's thinking.
        waited_seconds: Time the target waited in joins.
        measured_seconds: Thinking and waiting of the turns that ended in a hit, a join or a miss.
        bound_seconds: The same with perfect overlap: each turn the longer of G and g + T, where G is the thinking, g
            the time until the load began and T the load (arXiv 2510.04371, 2512.15834).
        refusals: Guesses and loads refused, by reason.
        failures: Failed loads and predictions, by reason.
    """

    hits: int = 0
    joins: int = 0
    misses: int = 0
    hits_at: Counter[int] = field(default_factory=Counter)
    speculated: int = 0
    hidden_seconds: float = 0.0
    waited_seconds: float = 0.0
    measured_seconds: float = 0.0
    bound_seconds: float = 0.0
    refusals: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    _unused: Counter[str] = field(default_factory=Counter)
    _sizes: dict[str, int] = field(default_factory=dict)
    _guessed: list[str] = field(default_factory=list)
    _launched_seconds: dict[str, float] = field(default_factory=dict)

    def __call__(self, event: Event) -> None:
        """Count one event."""
        match event.kind:
            case EventKind.LAUNCH:
                self.speculated += 1
                self._unused[event.key] += 1
                self._launched_seconds[event.key] = event.at_seconds
                self._guessed.append(event.key)
            case EventKind.KNOWN:
                self._guessed.append(event.key)
            case EventKind.LOAD:
                self._sizes[event.key] = event.size_bytes
            case EventKind.REFUSE:
                self.refusals[event.reason] += 1
            case EventKind.FAIL:
                self.failures[event.reason] += 1
            case EventKind.HIT | EventKind.JOIN | EventKind.MISS:
                self._step(event)
            case EventKind.DIRECT | EventKind.CANCEL | EventKind.PREDICT:
                pass

    def _step(self, event: Event) -> None:
        match event.kind:
            case EventKind.HIT:
                self.hits += 1
            case EventKind.JOIN:
                self.joins += 1
            case _:
                self.misses += 1
        if event.turn > 0:  # nobody could guess the first step
            self._compare(event)
        if event.kind is not EventKind.MISS:
            self._use(event)
        self._guessed = []

    def _compare(self, event: Event) -> None:
        """Count at which guess the turn was right, and how long it would have taken with perfect overlap."""
        if event.key in self._guessed:
            self.hits_at[self._guessed.index(event.key) + 1] += 1
        thought_seconds, waited_seconds = event.thought_seconds, event.waited_seconds
        load_seconds = waited_seconds if event.kind is EventKind.MISS else event.seconds
        began_seconds = event.at_seconds - waited_seconds - thought_seconds
        # Negative where the load began in an earlier turn.
        lead_seconds = self._launched_seconds.get(event.key, began_seconds) - began_seconds
        self.measured_seconds += thought_seconds + waited_seconds
        self.bound_seconds += max(thought_seconds, lead_seconds + load_seconds)

    def _use(self, event: Event) -> None:
        # A page used twice, or visited before, saved its load a second time; only what was loaded ahead was hidden.
        if self._unused[event.key]:
            self._unused[event.key] -= 1
            self.hidden_seconds += event.seconds - event.waited_seconds
        self.waited_seconds += event.waited_seconds

    def hits_within(self, guesses: int) -> int:
        """Return how many actions were among the first so many guesses of their turn (hit@1, hit@3)."""
        return sum(count for at, count in self.hits_at.items() if at <= guesses)

    @property
    def wasted(self) -> int:
        """Speculative loads started that the target has not used."""
        return self._unused.total()

    @property
    def wasted_bytes(self) -> int:
        """What the observations of wasted loads occupied."""
        return sum(size for key, size in self._sizes.items() if self._unused[key])

    @property
    def refused(self) -> int:
        """Guesses and loads refused."""
        return self.refusals.total()
