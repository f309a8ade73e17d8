"""What happens in a run, as values: the source of the trace, of live progress and of any user interface.

Invariant: together with `speccache.events.Event` these tell the whole story of a run; `at_seconds` is one clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent.target import Usage
from speccache.events import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A question was asked."""

    at_seconds: float
    question: str
    url: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """The target begins to decide."""

    at_seconds: float
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """The target decided; `seconds` is how long it thought.

    Where it reflects, `information` is what it wrote down of the page before, and `satisfied` what its critic found.
    """

    at_seconds: float
    turn: int
    action: str
    thought: str
    seconds: float
    usage: Usage
    calls: int = 0
    information: str = ""
    satisfied: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """An action's observation is in hand; `seconds` is how long the target waited for it, the exposed web time."""

    at_seconds: float
    turn: int
    action: str
    url: str
    title: str
    status: int | None
    readiness: str
    problem: str | None
    text: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The run ended; `reason` says why it has no answer."""

    at_seconds: float
    status: str
    answer: str
    sources: tuple[str, ...]
    reason: str


RunEvent = Started | Thinking | Decided | Observed | Finished | Event
RunListener = Callable[[RunEvent], None]
