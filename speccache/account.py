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
        speculated: Speculative loads started.
        wasted: Of these, the ones that the target has not used.
        hidden_seconds: Load time that ran behind the target's thinking.
        waited_seconds: Time the target waited in joins.
        refusals: Guesses and loads refused, by reason.
        failures: Failed loads and predictions, by reason.
    """

    hits: int = 0
    joins: int = 0
    misses: int = 0
    speculated: int = 0
    hidden_seconds: float = 0.0
    waited_seconds: float = 0.0
    refusals: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    _unused: Counter[str] = field(default_factory=Counter)

    def __call__(self, event: Event) -> None:
        """Count one event."""
        match event.kind:
            case EventKind.LAUNCH:
                self.speculated += 1
                self._unused[event.key] += 1
            case EventKind.REFUSE:
                self.refusals[event.reason] += 1
            case EventKind.FAIL:
                self.failures[event.reason] += 1
            case EventKind.HIT | EventKind.JOIN:
                self._use(event)
            case EventKind.MISS:
                self.misses += 1
            case _:
                pass

    def _use(self, event: Event) -> None:
        if event.kind is EventKind.HIT:
            self.hits += 1
        else:
            self.joins += 1
        # A page used twice, or visited before, saved its load a second time; only what was loaded ahead was hidden.
        if self._unused[event.key]:
            self._unused[event.key] -= 1
            self.hidden_seconds += event.seconds - event.waited_seconds
        self.waited_seconds += event.waited_seconds

    @property
    def wasted(self) -> int:
        """Speculative loads started that the target has not used."""
        return self._unused.total()

    @property
    def refused(self) -> int:
        """Guesses and loads refused."""
        return self.refusals.total()
