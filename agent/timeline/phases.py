"""What the target did, one thing after the other: it thought, or it waited for a page.

Invariant: phases do not overlap. One that had not ended when the trace did lasts until the trace's end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from agent.timeline.trace_reader import Record, Run

Kind = Literal["think", "wait"]

_BEGINNINGS: dict[str, Kind] = {"started": "wait", "thinking": "think", "decided": "wait", "concluding": "think"}
_RESULTS: dict[Kind, tuple[str, ...]] = {"think": ("decided", "concluded"), "wait": ("observed",)}
_ENDS = frozenset({*_BEGINNINGS, "concluded", "observed", "finished"})
_STEPS = ("hit", "join", "miss", "direct")
_CUT_SHORT = ("error", "interrupted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A time of thinking or of waiting.

    Attributes:
        kind: Which of them.
        turn: The turn; 0 for the first page.
        start_seconds: When it began.
        end_seconds: When it ended.
        result: The decision, or the observation; None where there is none, as after an error or a crash.
        how: For a wait: the record that tells whether it was a hit, a join, a miss or a step done directly.
    """

    kind: Kind
    turn: int
    start_seconds: float
    end_seconds: float
    result: Record | None = None
    how: Record | None = None

    @property
    def seconds(self) -> float:
        """How long it lasted, as measured by the run where it was."""
        measured = self.result.number("seconds") if self.result else 0.0
        return measured or self.end_seconds - self.start_seconds


def end_seconds(run: Run) -> float:
    """Return when a run ended: at its outcome, else with the last thing that is known of it."""
    finished = run.named("finished")
    return finished[-1].at_seconds if finished else max((record.at_seconds for record in run.records), default=0.0)


def phases(run: Run) -> Sequence[Phase]:
    """Return a run's phases, in order."""
    ended: list[Phase] = []
    current: Phase | None = None
    for record in run.records:
        if current is not None and record.name in _STEPS and current.kind == "wait":
            current = replace(current, how=record)
        elif current is not None and record.name in _ENDS:
            result = record if record.name in _RESULTS[current.kind] else None
            if result or not _is_answered(current, record):
                ended.append(replace(current, end_seconds=record.at_seconds, result=result))
            current = None
        kind = _BEGINNINGS.get(record.name)
        if kind is not None:
            at = record.at_seconds
            current = Phase(kind=kind, turn=record.turn, start_seconds=at, end_seconds=at)
    if current is not None:
        ended.append(replace(current, end_seconds=max(current.start_seconds, end_seconds(run))))
    return ended


def _is_answered(current: Phase, record: Record) -> bool:
    """Tell that nothing was waited for: the decision was the answer, or one too many."""
    ended = record.name in ("concluding", "finished") and record.text("status") not in _CUT_SHORT
    return current.kind == "wait" and ended
