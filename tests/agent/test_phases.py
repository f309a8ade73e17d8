"""What the target did, one thing after the other, also where lines are missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.timeline.phases import phases
from agent.timeline.trace_reader import read_trace
from tests.agent.traces import HEADING, Line, decided, observed, thinking, write

STARTED: Line = {"event": "started", "at_s": 0.0}
FIRST = [STARTED, observed(1.0, "", turn=0, seconds=1.0)]
THOUGHT = [thinking(1.0, turn=1), decided(2.0, "visit 1", turn=1, seconds=1.0)]


def finished(at: float, status: str) -> Line:
    return {"event": "finished", "at_s": at, "status": status}


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([], []),
        ([STARTED, finished(2.0, "error")], [("wait", 0.0, 2.0)]),
        ([*FIRST, *THOUGHT, finished(2.5, "answered")], [("wait", 0.0, 1.0), ("think", 1.0, 2.0)]),
        ([*FIRST, *THOUGHT, finished(2.5, "error")], [("wait", 0.0, 1.0), ("think", 1.0, 2.0), ("wait", 2.0, 2.5)]),
        ([*FIRST, THOUGHT[0], finished(4.0, "error")], [("wait", 0.0, 1.0), ("think", 1.0, 4.0)]),
        (
            [*THOUGHT, {"event": "concluding", "at_s": 2.1, "turn": 1}, {"event": "concluded", "at_s": 5.0}],
            [("think", 1.0, 2.0), ("think", 2.1, 5.0)],
        ),
        (
            [*THOUGHT, {"event": "concluding", "at_s": 2.1, "turn": 1}, finished(6.0, "limit")],
            [("think", 1.0, 2.0), ("think", 2.1, 6.0)],
        ),
        ([THOUGHT[0], thinking(4.0, turn=2), finished(5.0, "error")], [("think", 1.0, 4.0), ("think", 4.0, 5.0)]),
        ([*THOUGHT, thinking(4.0, turn=2)], [("think", 1.0, 2.0), ("wait", 2.0, 4.0), ("think", 4.0, 4.0)]),
    ],
    ids=[
        "nothing",
        "no page",
        "answer",
        "no second page",
        "no decision",
        "sum",
        "no sum",
        "lost decision",
        "lost page",
    ],
)
def test_phases(tmp_path: Path, lines: list[Line], found: list[tuple[str, float, float]]) -> None:
    (run,) = read_trace(write(tmp_path / "run.jsonl", [HEADING, *lines]))
    assert [(phase.kind, phase.start_seconds, phase.end_seconds) for phase in phases(run)] == found
