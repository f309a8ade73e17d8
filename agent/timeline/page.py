"""A trace as one HTML page that needs nothing else: no server, no network, no build.

Invariant: nothing of the trace is markup. It stands in the page as JSON in which no `<` is left, the page's script puts
it in as text, and its security policy lets that one script run and nothing be fetched.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib.resources import files
from string import Template
from typing import Any

from agent.timeline.bars import Lane
from agent.timeline.breakdown import breakdown_of_run
from agent.timeline.lanes import lanes_of
from agent.timeline.phases import Phase, end_seconds, phases
from agent.timeline.trace_reader import Record, Run

MAX_TEXT_CHARS = 4_000
"""How much of a thought or of an observation the page shows; the trace has all of it."""

_SCRIPTS = ("timeline_chart.js", "timeline_input.js", "timeline.js")
_NOTHING = Record(name="", at_seconds=0.0, fields={})


def timeline_page(runs: Sequence[Run]) -> str:
    """Return the page that shows these runs; with several, a person chooses among them."""
    script = "\n".join(map(_part, _SCRIPTS))
    style = _part("timeline.css")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    )
    data = {"runs": [_run(run) for run in runs]}
    page = Template(_part("timeline.html"))
    return page.substitute(policy=policy, style=style, script=script, data=_embedded(data))


def _part(name: str) -> str:
    return files("agent.timeline").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _embedded(data: Any) -> str:
    """Write JSON that no HTML parser can take for markup."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _run(run: Run) -> dict[str, Any]:
    started = next(iter(run.named("started")), _NOTHING)
    finished = next(iter(run.named("finished")), _NOTHING)
    lanes = lanes_of(run)
    return {
        "source": run.source,
        "started_at": run.started_at,
        "notes": [*run.notes, *(record.text("text") for record in run.named("notice"))],
        "question": run.question,
        "start": started.text("url"),
        "target": started.text("target"),
        "status": run.status,
        "answer": finished.text("answer"),
        "reason": finished.text("reason"),
        "sources": list(finished.texts("sources")),
        "support": finished.text("support"),
        "end_s": max([end_seconds(run), *(bar.end_seconds for lane in lanes for bar in lane.bars)]),
        "breakdown": breakdown_of_run(run).as_json(),
        "lanes": [_lane(lane) for lane in lanes],
        "turns": _turns(phases(run)),
    }


def _lane(lane: Lane) -> dict[str, Any]:
    bars = [
        {
            "kind": bar.kind,
            "start": round(bar.start_seconds, 6),
            "end": round(bar.end_seconds, 6),
            "turn": bar.turn,
            "label": bar.label,
            "facts": bar.facts,
        }
        for bar in lane.bars
    ]
    return {"name": lane.name, "bars": bars}


def _turns(steps: Sequence[Phase]) -> list[dict[str, Any]]:
    """Return what each turn thought, did and saw; turn 0 is the first page."""
    turns: list[dict[str, Any]] = []
    for step in steps:
        if step.kind == "think" or not turns:
            turns.append(_thought(step))
        if step.kind == "wait":
            turns[-1] |= _seen(step)
    return turns


def _thought(step: Phase) -> dict[str, Any]:
    decided = step.result if step.kind == "think" and step.result else _NOTHING
    usage = decided.group("usage")
    return {
        "turn": step.turn,
        "sums_up": decided.name == "concluded",
        "thought": decided.text("thought")[:MAX_TEXT_CHARS],
        "noted": decided.text("information")[:MAX_TEXT_CHARS],
        "satisfied": decided.fields.get("satisfied") is True,
        "action": decided.text("action")[:MAX_TEXT_CHARS],
        "thought_s": step.seconds if step.kind == "think" else 0.0,
        "tokens_in": int(usage.number("input_tokens")),
        "tokens_out": int(usage.number("output_tokens")),
        **_seen(None),
    }


def _seen(step: Phase | None) -> dict[str, Any]:
    seen = (step and step.result) or _NOTHING
    text = seen.text("text")
    return {
        "step": "" if step is None else step.how.name if step.how else "wait",
        "waited_s": step.seconds if step else 0.0,
        "title": seen.text("title"),
        "url": seen.text("url"),
        "status": int(seen.number("status")),
        "problem": seen.text("problem"),
        "text": text[:MAX_TEXT_CHARS],
        "more_chars": max(0, len(text) - MAX_TEXT_CHARS),
    }
