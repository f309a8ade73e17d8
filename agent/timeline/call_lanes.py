"""The requests to models, as lanes: when each was under way, and what was done about slow and failing ones.

Invariant: every request is one bar. What was done about a call stands in the first lane of its role.
"""

from __future__ import annotations

from collections import defaultdict

from agent.timeline.bars import Bar, BarKind, Lane, bar, lasting, moment, rows, tokens
from agent.timeline.trace_reader import Record, Run

_REQUESTS = {"reply": BarKind.REQUEST, "fail": BarKind.LOST, "drop": BarKind.LOST}
_ENDS = {"reply": "answered", "fail": "failed", "drop": "given up"}


def call_lanes(run: Run) -> list[Lane]:
    """Return the lanes of a run's requests: for each role as many as were under way at once."""
    requests: dict[str, list[Bar]] = defaultdict(list)
    moments: dict[str, list[Bar]] = defaultdict(list)
    turn = 0
    for record in run.records:
        if record.name == "thinking":
            turn = record.turn
        if record.name == "call":
            role = record.text("role")
            if record.text("kind") in _REQUESTS:
                requests[role].append(_request(record, turn))
            else:
                moments[role].append(_rescue(record, turn))
    roles = sorted({*requests, *moments}, key=lambda role: (role != "target", role))
    return [lane for role in roles for lane in _of_role(role, requests[role], moments[role])]


def _of_role(role: str, requests: list[Bar], moments: list[Bar]) -> list[Lane]:
    first, *more = rows(requests) or [[]]
    # A moment has no length, so it may stand on a bar.
    first = sorted([*first, *moments], key=lambda each: each.start_seconds)
    return [Lane(name=f"{role} requests", bars=row) for row in (first, *more)]


def _request(record: Record, turn: int) -> Bar:
    kind, at, seconds = record.text("kind"), record.at_seconds, record.number("seconds")
    facts = _facts(record, turn)
    facts[_ENDS[kind]] = f"after {lasting(seconds)}"
    estimated = " (an estimate)" if record.fields.get("estimated") is True else ""
    facts["tokens"] = (tokens(record.group("usage")) or "not told") + estimated
    facts["cost"] = f"${record.number('cost_usd'):.6f}" if record.number("cost_usd") else ""
    facts["tier"] = record.text("service_tier")
    return bar(_REQUESTS[kind], at - seconds, at, turn=turn, label=record.text("model"), facts=facts)


def _rescue(record: Record, turn: int) -> Bar:
    facts = _facts(record, turn)
    facts["seconds"] = lasting(record.number("seconds")) if record.number("seconds") else ""
    return moment(BarKind.RESCUE, record, record.text("kind"), facts, turn=turn)


def _facts(record: Record, turn: int) -> dict[str, str]:
    return {"turn": f"{turn}", "model": record.text("model"), "why": record.text("reason")}
