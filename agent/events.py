"""What happens in a run, as values: the source of the trace, of live progress and of any user interface.

Invariant: together with `speccache.events.Event` these tell the whole story of a run; `at_seconds` is one clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

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
class Concluding:
    """At a limit, the target begins to sum up what was seen; `turn` is the last one."""

    at_seconds: float
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Concluded:
    """It summed up; `seconds` is how long it took."""

    at_seconds: float
    turn: int
    action: str
    thought: str
    seconds: float
    usage: Usage
    calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The run ended; `reason` says why it has no answer, `support` is the address of the page its answer stands on."""

    at_seconds: float
    status: str
    answer: str
    sources: tuple[str, ...]
    reason: str
    support: str = ""


class CallKind(StrEnum):
    """What happened behind a call to a model."""

    REPLY = "reply"
    """A request was answered; `seconds` is how long it took."""
    FAIL = "fail"
    """A request failed; `reason` says how. Nobody bills it."""
    DROP = "drop"
    """A request was given up before it was answered: it was late, lost to another, or nobody needed it any more."""
    RETRY = "retry"
    """The call is tried again after `seconds`; `reason` says what went wrong."""
    HEDGE = "hedge"
    """A second request was sent, as the first had been running for `seconds`; the first to answer wins."""
    SECOND = "second"
    """The second request answered first."""
    FALLBACK = "fallback"
    """Another model is asked in place of this one; `reason` says why."""
    PAUSE = "pause"
    """The model failed so often in a row that it is not asked for `seconds`."""
    PROBE = "probe"
    """The pause is over; one call tries whether the model answers again."""
    RESUME = "resume"
    """It does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Something happened behind a call to a model. Every request ends in exactly one `REPLY`, `FAIL` or `DROP`.

    Attributes:
        at_seconds: When.
        kind: What happened.
        role: What the model is there for: `target`, `draft`, or any name a caller chose.
        model: The model, with its provider's name where it has one.
        reason: Why, in a sentence.
        seconds: How long the request took, or what comes is waited for.
        usage: Tokens of the request; None where it has none, or where the endpoint does not say.
        estimated: Whether the usage is an estimate: nobody tells what a request that was given up costs.
        cost_usd: What these tokens cost; None where the price or the usage is not known.
        service_tier: The tier the request was served by, where the endpoint says so.
        server: The endpoint's host and port; empty where it is not known.
        error: The class of the error a request failed or was given up with, such as `ModelLate`; empty where none was.
    """

    at_seconds: float
    kind: CallKind
    role: str
    model: str
    reason: str = ""
    seconds: float = 0.0
    usage: Usage | None = None
    estimated: bool = False
    cost_usd: float | None = None
    service_tier: str = ""
    server: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something that the run uses is lost or back, a shared cache for one: what, in a sentence for a person."""

    at_seconds: float
    text: str


RunEvent = Started | Thinking | Decided | Observed | Concluding | Concluded | Finished | Call | Notice | Event
RunListener = Callable[[RunEvent], None]
