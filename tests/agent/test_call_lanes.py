"""Requests to models, as lanes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent.timeline.call_lanes import call_lanes
from agent.timeline.trace_reader import read_trace
from tests.agent.traces import HEADING, Line, thinking, write


def call(kind: str, at: float, **facts: Any) -> Line:
    return {"event": "call", "kind": kind, "at_s": at, "role": "target", "model": "large", "seconds": 0.0, **facts}


def test_a_hedged_call_has_two_lanes_and_says_what_was_done(tmp_path: Path) -> None:
    usage = {"input_tokens": 1200, "output_tokens": 30}
    lines = [
        HEADING,
        thinking(0.0, turn=1),
        call("hedge", 2.0, seconds=2.0),
        call("second", 3.0),
        call("reply", 3.0, seconds=1.0, usage=usage, cost_usd=0.0012, service_tier="flex"),
        call("drop", 3.1, seconds=3.0, usage=usage, estimated=True, reason="late"),
        call("fail", 3.5, seconds=0.2, role="draft", usage=None),
        thinking(4.0, turn=2),
        call("reply", 6.0, seconds=1.5, usage=None),
    ]
    found = call_lanes(read_trace(write(tmp_path / "run.jsonl", lines))[0])
    assert [
        (lane.name, [(bar.kind, round(bar.start_seconds, 3), bar.end_seconds) for bar in lane.bars]) for lane in found
    ] == [
        (
            "target requests",
            [("lost", 0.1, 3.1), ("rescue", 2.0, 2.0), ("rescue", 3.0, 3.0), ("request", 4.5, 6.0)],
        ),
        ("target requests", [("request", 2.0, 3.0)]),
        ("draft requests", [("lost", 3.3, 3.5)]),
    ]
    (won,), (lost, hedge, _, last) = found[1].bars, found[0].bars
    assert won.facts == {
        "turn": "1",
        "model": "large",
        "answered": "after 1.00 s",
        "tokens": "1,200 in, 30 out",
        "cost": "$0.001200",
        "tier": "flex",
    }
    assert (lost.facts["tokens"], lost.facts["why"]) == ("1,200 in, 30 out (an estimate)", "late")
    assert (hedge.label, hedge.facts["seconds"], last.turn, last.facts["tokens"]) == ("hedge", "2.00 s", 2, "not told")


def test_a_role_without_requests_shows_what_was_done(tmp_path: Path) -> None:
    lines = [HEADING, call("pause", 1.0, seconds=30.0, reason="five failures")]
    (lane,) = call_lanes(read_trace(write(tmp_path / "run.jsonl", lines))[0])
    assert [(bar.kind, bar.label, bar.facts["seconds"]) for bar in lane.bars] == [("rescue", "pause", "30.00 s")]
