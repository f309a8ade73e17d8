"""What happens inside the cache, as values.

Invariant: every decision about a guess and every step of the target is exactly one event, so that an account or a trace
built from the events alone is complete.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class EventKind(StrEnum):
    """What happened."""

    PREDICT = "predict"
    """A predictor ended, or was stopped; `seconds` is how long it guessed."""
    LAUNCH = "launch"
    """A guess passed and its load started."""
    KNOWN = "known"
    """A guess whose observation is stored or already loading."""
    REFUSE = "refuse"
    """A guess that is not run, or a load whose observation is not kept; `reason` says why."""
    LOAD = "load"
    """A speculative load finished and is stored; `seconds` is how long it took."""
    FAIL = "fail"
    """A speculative load, or a predictor, failed; `reason` says how."""
    CANCEL = "cancel"
    """A speculative load was given up; `reason` says why."""
    HIT = "hit"
    """The target's action was stored; `seconds` is how long its load had taken, 0 for a page visited before."""
    JOIN = "join"
    """The target's action was loading; it waited `waited_seconds` for the rest."""
    MISS = "miss"
    """Nothing was known of the target's action; its step took `waited_seconds`."""
    DIRECT = "direct"
    """The action is never run ahead (it has effects, or costs nothing); its step took `waited_seconds`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened.

    Attributes:
        kind: What happened.
        at_seconds: When, on the clock of the environment that emits it.
        turn: How many steps the target had taken by then.
        action: The action, as text.
        key: The action's key, as text; empty where it has none.
        predictor: Which predictor guessed it; empty for the target's own steps.
        rank: Its rank among that predictor's guesses; 0 where there is none.
        depth: What is guessed: 0 the target's next action, 1 the one after, of a guess one level deeper.
        reason: Why, in a short, stable phrase.
        seconds: How long the load took.
        waited_seconds: How long the target waited.
        thought_seconds: How long the target thought before its last action.
        size_bytes: What the observation occupies.
    """

    kind: EventKind
    at_seconds: float
    turn: int
    action: str
    key: str = ""
    predictor: str = ""
    rank: int = 0
    depth: int = 0
    reason: str = ""
    seconds: float = 0.0
    waited_seconds: float = 0.0
    thought_seconds: float = 0.0
    size_bytes: int = 0


Listener = Callable[[Event], None]
