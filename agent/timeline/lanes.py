"""A run as lanes of bars: the target, its models, whoever guesses, the page it stands on, and what loads ahead.

Invariant: in one lane no two bars overlap. A load that had not ended when the trace did lasts until the trace's end;
what this module does not know is shown, too, in a lane of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

from agent.timeline.bars import Bar, BarKind, Lane, bar, brief, lasting, moment, rows, tokens
from agent.timeline.call_lanes import call_lanes
from agent.timeline.phases import Phase, end_seconds, phases
from agent.timeline.trace_reader import Record, Run
from speccache.events import EventKind

_KNOWN_RECORDS = frozenset(EventKind) | {
    "started",
    "thinking",
    "decided",
    "observed",
    "concluding",
    "concluded",
    "finished",
    "call",
}
_GUESSES = {"refuse": "refused", "known": "known", "fail": "failed"}
_ORIGINS = {
    "shelf": "the shelf, kept by an earlier run",
    "shared": "the shared cache, kept by another run or loaded by one just then",
}
_ENDS = {"load": "was ready", "cancel": "was given up", "refuse": "was not kept", "fail": "failed"}


@dataclass(slots=True, kw_only=True, eq=False)
class _Load:
    """A load ahead, from its launch on."""

    launch: Record
    end: Record | None = None
    use: Record | None = None


def lanes_of(run: Run) -> tuple[Lane, ...]:
    """Return a run's lanes, from top to bottom."""
    steps, loads = phases(run), _loads(run)
    last_seconds = max(end_seconds(run), *(record.at_seconds for record in run.records), 0.0)
    deciding = [*(_thinking(phase) for phase in steps if phase.kind == "think"), *map(_finish, run.named("finished"))]
    ahead = rows(_loading(load, last_seconds) for load in loads)
    others = rows(_other(record) for record in run.records if record.name not in _KNOWN_RECORDS)
    return (
        Lane(name="target", bars=deciding),
        *call_lanes(run),
        *_guesses(run, loads),
        Lane(name="foreground", bars=[_waiting(phase) for phase in steps if phase.kind == "wait"]),
        *(Lane(name=f"ahead {number}", bars=row) for number, row in enumerate(ahead, 1)),
        *(Lane(name="other", bars=row) for row in others),
    )


def _thinking(phase: Phase) -> Bar:
    decided = phase.result
    facts = {"turn": f"{phase.turn}", "thought for": lasting(phase.seconds)}
    if decided is None:
        facts["decided"] = "nothing: the run ended before"
    else:
        facts |= {"decided": decided.text("action"), "thought": decided.text("thought")}
        facts["tokens"] = tokens(decided.group("usage"))
    return _of_phase(BarKind.THINK, phase, brief(decided.text("action")) if decided else "unfinished", facts)


def _waiting(phase: Phase) -> Bar:
    kind = BarKind(phase.how.name) if phase.how else BarKind.WAIT
    facts = {"turn": f"{phase.turn}", "waited": lasting(phase.seconds)}
    seen = phase.result
    if seen is None:
        return _of_phase(kind, phase, "unfinished", facts | {"page": "none: the run ended before"})
    facts |= {"action": seen.text("action"), "page": seen.text("title"), "address": seen.text("url")}
    facts |= {"problem": seen.text("problem"), "readiness": seen.text("readiness")}
    if phase.how and phase.how.name in ("hit", "join") and phase.how.number("seconds"):
        facts["the load took"] = lasting(phase.how.number("seconds"))
    origin = _ORIGINS.get(phase.how.text("reason")) if phase.how else None
    if origin is not None:
        facts["came from"] = origin
    return _of_phase(kind, phase, brief(seen.text("url")) or brief(seen.text("action")), facts)


def _of_phase(kind: BarKind, phase: Phase, label: str, facts: dict[str, str]) -> Bar:
    return bar(kind, phase.start_seconds, phase.end_seconds, turn=phase.turn, label=label, facts=facts)


def _finish(finished: Record) -> Bar:
    facts = {name: finished.text(name) for name in ("status", "answer", "reason")}
    return moment(BarKind.FINISH, finished, finished.text("status"), facts)


def _guesses(run: Run, loads: Iterable[_Load]) -> list[Lane]:
    """One lane for each predictor: when it guessed, and what became of the guesses that started no load.

    A predictor that others are parts of passes their guesses on in their names; those without a lane share the last.
    """
    names = sorted({record.text("predictor") for record in run.named("predict")})
    found: dict[str, list[Bar]] = {name: [] for name in (*names, "guesses")}
    ends = {id(load.end) for load in loads}
    for record in run.records:
        name = record.text("predictor")
        if record.name == "predict":
            found[name].append(_predicting(record))
        elif record.name in _GUESSES and id(record) not in ends:
            found[name if name in found else "guesses"].append(_guess(record))
    return [Lane(name=name, bars=_in_sequence(bars)) for name, bars in found.items() if bars]


def _guess(record: Record) -> Bar:
    facts = {"turn": f"{record.turn}", "guess": record.text("action"), "by": record.text("predictor")}
    facts |= {"rank": _rank(record), "why": record.text("reason")}
    return moment(BarKind(_GUESSES[record.name]), record, brief(record.text("action")), facts)


def _predicting(record: Record) -> Bar:
    at, seconds, name = record.at_seconds, record.number("seconds"), record.text("predictor")
    facts = {"turn": f"{record.turn}", "predictor": name, "guessed for": lasting(seconds)}
    return bar(BarKind.PREDICT, at - seconds, at, turn=record.turn, label=name, facts=facts)


def _in_sequence(bars: Iterable[Bar]) -> list[Bar]:
    """Order the bars of one that does one thing at a time: a prediction that is stopped ends as the next one begins."""
    ordered = sorted(bars, key=lambda each: each.start_seconds)
    spans = [each for each in ordered if each.kind is BarKind.PREDICT]
    following = {id(each): after.start_seconds for each, after in pairwise(spans)}
    return [
        replace(each, end_seconds=min(each.end_seconds, following.get(id(each), each.end_seconds))) for each in ordered
    ]


def _loads(run: Run) -> list[_Load]:
    loads: list[_Load] = []
    latest: dict[str, _Load] = {}
    for record in run.records:
        load = latest.get(record.text("key"))
        if record.name == "launch":
            load = latest[record.text("key")] = _Load(launch=record)
            loads.append(load)
        elif load is not None and load.end is None and record.name in _ENDS:
            load.end = record
        elif load is not None and load.use is None and record.name in ("hit", "join"):
            load.use = record
    return loads


def _loading(load: _Load, last_seconds: float) -> Bar:
    launch, end = load.launch, load.end
    facts = {"guess": launch.text("action"), "guessed in": f"turn {launch.turn}", "by": launch.text("predictor")}
    facts["rank"] = _rank(launch)
    if end is not None:
        facts[_ENDS[end.name]] = f"after {lasting(end.at_seconds - launch.at_seconds)}"
        facts["why"] = end.text("reason")
        facts["size"] = f"{end.number('size_bytes') / 1000:,.0f} kB" if end.number("size_bytes") else ""
    if load.use is not None:
        kind, facts["used"] = BarKind.HIDDEN, f"in turn {load.use.turn}, {load.use.name}"
    else:
        kind = BarKind.UNUSED if end is None or end.name == "load" else BarKind.DROPPED
        facts["used"] = "never"
    label = brief(launch.text("action"))
    return bar(
        kind,
        launch.at_seconds,
        end.at_seconds if end else last_seconds,
        turn=launch.turn,
        label=label,
        facts=facts,
    )


def _other(record: Record) -> Bar:
    at = record.at_seconds
    facts = {name: f"{value}" for name, value in record.fields.items() if name not in ("event", "at_s")}
    return bar(BarKind.OTHER, at - record.number("seconds"), at, turn=record.turn, label=record.name, facts=facts)


def _rank(record: Record) -> str:
    return f"{record.number('rank'):.0f}" if record.number("rank") else ""
