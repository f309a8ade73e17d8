"""Listens to a run and tells, step by step, how each page came to the target.

Invariant: one step for each observation of the target, in their order; nothing is estimated.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.events import Decided, Observed, RunEvent
from evals.runs.record import PageStep, StepKind
from speccache.events import Event, EventKind

NOT_GUESSED = "not guessed"
FIRST = "first page"

_KINDS: dict[EventKind, StepKind] = {
    EventKind.HIT: "hit",
    EventKind.JOIN: "join",
    EventKind.MISS: "miss",
    EventKind.DIRECT: "direct",
}
_NAMING = (EventKind.LAUNCH, EventKind.KNOWN)
_ENDS = {EventKind.REFUSE: "refused", EventKind.CANCEL: "cancelled", EventKind.FAIL: "failed"}
_READS_A_PAGE = ("visit ", "search ")


@dataclass(slots=True)
class StepLog:
    """A listener that keeps what each step of the target cost and who had guessed it.

    Attributes:
        steps: The steps so far; addresses are as they were.
    """

    steps: list[PageStep] = field(default_factory=list)
    _thought_seconds: float = 0.0
    _last: Event | None = None
    _guessed: list[str] = field(default_factory=list)
    _named: set[str] = field(default_factory=set)
    _launched_by: dict[str, str] = field(default_factory=dict)
    _ended: dict[str, str] = field(default_factory=dict)

    def __call__(self, event: RunEvent) -> None:
        """Take note of one event."""
        match event:
            case Event():
                self._cache_event(event)
            case Decided():
                self._thought_seconds = event.seconds
            case Observed():
                self.steps.append(self._step(event))
                self._guessed, self._last, self._thought_seconds = [], None, 0.0

    def _cache_event(self, event: Event) -> None:
        if event.kind in _KINDS:
            self._last = event
            return
        if event.kind in _NAMING:
            self._named.add(event.key)
            if event.depth == 0:  # a guess of what comes after the next action has no place among those of it
                self._guessed.append(event.key)
        if event.kind is EventKind.LAUNCH:
            self._launched_by[event.key] = event.predictor
            self._ended.pop(event.key, None)
        elif event.kind in _ENDS and event.key:
            self._ended[event.key] = f"{_ENDS[event.kind]}: {event.reason.partition(':')[0]}"

    def _step(self, seen: Observed) -> PageStep:
        event = self._last
        reads = seen.action.startswith(_READS_A_PAGE)
        if event is None:  # nothing is loaded ahead in this run, or the loop did not do it again
            kind: StepKind = "miss" if reads and seen.seconds else "direct"
            return self._plain(seen, kind, seen.seconds)
        kind = _KINDS[event.kind]
        if kind == "direct":
            return self._plain(seen, kind, event.waited_seconds)
        is_miss = kind == "miss"
        return PageStep(
            action=seen.action,
            kind=kind,
            load_seconds=event.waited_seconds if is_miss else event.seconds,
            waited_seconds=seen.seconds,
            thought_seconds=self._thought_seconds,
            predictor="" if is_miss else self._launched_by.get(event.key, ""),
            rank=self._guessed.index(event.key) + 1 if event.key in self._guessed else 0,
            named=event.key in self._named,
            why_missed=self._why(event.key) if is_miss else "",
        )

    def _plain(self, seen: Observed, kind: StepKind, seconds: float) -> PageStep:
        return PageStep(
            action=seen.action,
            kind=kind,
            load_seconds=seconds,
            waited_seconds=seen.seconds,
            thought_seconds=self._thought_seconds,
            why_missed=self._why("") if kind == "miss" else "",
        )

    def _why(self, key: str) -> str:
        if not self.steps:
            return FIRST
        return self._ended.get(key, NOT_GUESSED)
