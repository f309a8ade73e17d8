"""Bars and lanes: what a run's pictures are made of.

Invariant: all that a person reads in them is text that was cut to a length that fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from yarl import URL

from agent.timeline.trace_reader import Record

_LABEL_CHARS = 60
_FACT_CHARS = 400


class BarKind(StrEnum):
    """What a bar stands for."""

    THINK = "think"
    """The target decides."""
    PREDICT = "predict"
    """A predictor guesses what the target will decide."""
    HIT = "hit"
    """A step whose page was there."""
    JOIN = "join"
    """A step whose page was on its way."""
    MISS = "miss"
    """A step of whose page nothing was known."""
    DIRECT = "direct"
    """A step that is never run ahead."""
    WAIT = "wait"
    """A step without speculation, or one that did not end."""
    HIDDEN = "hidden"
    """A load ahead that the target used."""
    UNUSED = "unused"
    """A load ahead that it did not use."""
    DROPPED = "dropped"
    """A load ahead that was given up, not kept, or that failed."""
    REFUSED = "refused"
    """A guess that was not loaded."""
    KNOWN = "known"
    """A guess of a page that was there or on its way."""
    FAILED = "failed"
    """A prediction that failed."""
    REQUEST = "request"
    """A request to a model that was answered."""
    LOST = "lost"
    """A request to a model that failed, or that was given up."""
    RESCUE = "rescue"
    """What was done about a slow or failing model: a retry, a second request, another model, a pause."""
    FINISH = "finish"
    """The end of the run."""
    OTHER = "other"
    """Anything else that the trace tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """Something that took time, or a moment.

    Attributes:
        kind: What it stands for.
        start_seconds: When it began.
        end_seconds: When it ended; the same for a moment.
        turn: The turn it belongs to; 0 before the first decision.
        label: It in a few words.
        facts: All that is known of it, by name, for a person.
    """

    kind: BarKind
    start_seconds: float
    end_seconds: float
    turn: int
    label: str
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A row of bars.

    Attributes:
        name: Whose row it is.
        bars: The bars, in order.
    """

    name: str
    bars: Sequence[Bar]


def bar(
    kind: BarKind, start_seconds: float, end_seconds: float, *, turn: int, label: str, facts: Mapping[str, str]
) -> Bar:
    """Make a bar, leaving out facts that are empty."""
    return Bar(
        kind=kind,
        start_seconds=start_seconds,
        end_seconds=end_seconds,
        turn=turn,
        label=_cut(label, _LABEL_CHARS),
        facts={name: _cut(text, _FACT_CHARS) for name, text in facts.items() if text},
    )


def moment(kind: BarKind, record: Record, label: str, facts: Mapping[str, str], *, turn: int | None = None) -> Bar:
    """Make a bar of what a record tells happened at once."""
    at = record.at_seconds
    return bar(kind, at, at, turn=record.turn if turn is None else turn, label=label, facts=facts)


def rows(bars: Iterable[Bar]) -> list[list[Bar]]:
    """Put bars into as few rows as possible, so that none overlap: each into the first row that is free."""
    filled: list[list[Bar]] = []
    for each in sorted(bars, key=lambda each: each.start_seconds):
        free = next((row for row in filled if row[-1].end_seconds <= each.start_seconds), None)
        if free is None:
            filled.append([each])
        else:
            free.append(each)
    return filled


def brief(action: str) -> str:
    """Return an action in a few words: of an address, its last part."""
    address = action.rpartition(" ")[2]
    if "://" not in address:
        return _cut(action, _LABEL_CHARS)
    try:
        url = URL(address)
        return _cut(url.name or url.parent.name or url.host or address, _LABEL_CHARS)
    except ValueError:
        return _cut(address, _LABEL_CHARS)


def lasting(seconds: float) -> str:
    """Return a length of time for a person."""
    return f"{seconds * 1000:.0f} ms" if seconds < 0.1 else f"{seconds:.2f} s"


def tokens(usage: Record) -> str:
    """Return a usage for a person; empty where nothing was counted."""
    given, written = usage.number("input_tokens"), usage.number("output_tokens")
    return f"{given:,.0f} in, {written:,.0f} out" if given or written else ""


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else text[: chars - 1] + "…"
