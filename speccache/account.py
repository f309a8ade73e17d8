"""What speculation gained and cost in one run, counted from events.

Invariant: every number is a sum over events; nothing is estimated, and what is remembered of single loads is bounded.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from speccache.events import Event, EventKind

MAX_LOADS = 1024
"""Of how many loads ahead the account remembers which they were: four times what the store holds by default."""
MAX_REASONS = 100
"""How many different reasons are counted by themselves; what an error says may be new each time."""
OTHER = "other"
"""What all further reasons are counted as."""


@dataclass(slots=True, kw_only=True)
class _Ahead:
    """What was loaded ahead under one key."""

    launched_seconds: float = 0.0
    unused: int = 0
    size_bytes: int = 0

    @property
    def wasted_bytes(self) -> int:
        return self.size_bytes if self.unused else 0


@dataclass(slots=True, kw_only=True)
class Account:
    """A listener that counts.

    A load that `MAX_LOADS` others were started or used after counts as wasted for good: no store holds it any more.

    Attributes:
        hits: Actions whose observation was there.
        joins: Actions whose observation was on its way.
        misses: Actions of which nothing was known.
        hits_at: How many of all these were the turn's first, second, third … guess of its action, by that number; of
            the guesses taken up, and without those one level deeper.
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
    _guessed: list[str] = field(default_factory=list)
    _ahead: dict[str, _Ahead] = field(default_factory=dict)
    _forgotten: int = 0
    _forgotten_bytes: int = 0

    def __call__(self, event: Event) -> None:
        """Count one event."""
        match event.kind:
            case EventKind.LAUNCH:
                self._launch(event)
                self._guess(event)
            case EventKind.KNOWN:
                self._guess(event)
            case EventKind.LOAD:
                if event.key in self._ahead:
                    self._ahead[event.key].size_bytes = event.size_bytes
            case EventKind.REFUSE:
                _count(self.refusals, event.reason)
            case EventKind.FAIL:
                _count(self.failures, event.reason)
            case EventKind.HIT | EventKind.JOIN | EventKind.MISS:
                self._step(event)
            case EventKind.DIRECT:
                self._guessed = []
            case EventKind.CANCEL | EventKind.PREDICT:
                pass

    def _launch(self, event: Event) -> None:
        self.speculated += 1
        ahead = self._ahead.pop(event.key, None) or _Ahead()
        ahead.launched_seconds = event.at_seconds
        ahead.unused += 1
        self._ahead[event.key] = ahead  # as the latest
        if len(self._ahead) > MAX_LOADS:
            oldest = self._ahead.pop(next(iter(self._ahead)))
            self._forgotten += oldest.unused
            self._forgotten_bytes += oldest.wasted_bytes

    def _guess(self, event: Event) -> None:
        # What comes after the next action is no guess of it, and what was announced (without a rank) is none at all.
        if event.depth == 0 and event.rank:
            self._guessed.append(event.key)

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
        ahead = self._ahead.get(event.key)
        lead_seconds = ahead.launched_seconds - began_seconds if ahead else 0.0
        self.measured_seconds += thought_seconds + waited_seconds
        self.bound_seconds += max(thought_seconds, lead_seconds + load_seconds)

    def _use(self, event: Event) -> None:
        # A page used twice, or visited before, saved its load a second time; only what was loaded ahead was hidden.
        ahead = self._ahead.pop(event.key, None)
        if ahead is not None:
            self._ahead[event.key] = ahead  # as the latest: what is used stays in the store, too
            if ahead.unused:
                ahead.unused -= 1
                self.hidden_seconds += event.seconds - event.waited_seconds
        self.waited_seconds += event.waited_seconds

    def hits_within(self, guesses: int) -> int:
        """Return how many actions were among the first so many guesses of their turn (hit@1, hit@3)."""
        return sum(count for at, count in self.hits_at.items() if at <= guesses)

    @property
    def wasted(self) -> int:
        """Speculative loads started that the target has not used."""
        return self._forgotten + sum(each.unused for each in self._ahead.values())

    @property
    def wasted_bytes(self) -> int:
        """What the observations of wasted loads occupied."""
        return self._forgotten_bytes + sum(each.wasted_bytes for each in self._ahead.values())

    @property
    def refused(self) -> int:
        """Guesses and loads refused."""
        return self.refusals.total()


def _count(reasons: Counter[str], reason: str) -> None:
    reasons[reason if reason in reasons or len(reasons) < MAX_REASONS else OTHER] += 1
