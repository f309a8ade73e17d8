"""The Chrome trace-event format: what its description asks for, on a real example."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from agent.timeline.chrome_trace import chrome_trace
from agent.timeline.trace_reader import read_trace
from tests.agent.traces import MARKUP, example, write

PHASES = {
    "X": {"name", "cat", "ph", "ts", "dur", "pid", "tid", "args"},
    "i": {"name", "cat", "ph", "ts", "s", "pid", "tid", "args"},
    "M": {"name", "ph", "ts", "pid", "tid", "args"},
}
METADATA = {
    "process_name": {"name": str},
    "process_sort_index": {"sort_index": int},
    "thread_name": {"name": str},
    "thread_sort_index": {"sort_index": int},
}


def exported(tmp_path: Path) -> dict[str, Any]:
    run = read_trace(write(tmp_path / "run.jsonl", example()))
    shown: dict[str, Any] = json.loads(json.dumps(chrome_trace([*run, *run]), allow_nan=False))
    return shown


def test_it_keeps_to_the_format(tmp_path: Path) -> None:
    shown = exported(tmp_path)
    assert shown.keys() == {"traceEvents", "displayTimeUnit", "otherData"}
    assert shown["displayTimeUnit"] in ("ms", "ns")
    for event in shown["traceEvents"]:
        assert event.keys() == PHASES[event["ph"]]
        assert all(type(event[name]) is int and event[name] >= 0 for name in ("ts", "pid", "tid"))
        assert type(event.get("dur", 0)) is int
        assert event.get("dur", 1) >= 0
        assert event.get("s", "t") in ("g", "p", "t")
        assert event["name"]
        if event["ph"] == "M":
            assert {name: type(value) for name, value in event["args"].items()} == METADATA[event["name"]]


def test_every_lane_is_a_named_thread_of_its_run(tmp_path: Path) -> None:
    events = exported(tmp_path)["traceEvents"]
    threads = {
        (event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"
    }
    names = ["target", "draft requests", "draft:small", "rank", "foreground", "ahead 1", "ahead 2"]
    assert threads == {(pid, tid): name for pid in (1, 2) for tid, name in enumerate(names, 1)}
    assert {(event["pid"], event["tid"]) for event in events if event["ph"] != "M"} == threads.keys()
    processes = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    assert processes == [f"What? {MARKUP}"] * 2


def test_times_are_microseconds_and_bars_of_a_thread_do_not_overlap(tmp_path: Path) -> None:
    lanes = defaultdict(list)
    for event in exported(tmp_path)["traceEvents"]:
        if event["ph"] == "X":
            lanes[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    assert lanes[1, 1] == [(2_000_000, 4_000_000), (5_000_000, 7_000_000), (7_500_000, 9_500_000)]
    assert all(end <= start for spans in lanes.values() for (_, end), (start, _) in pairwise(sorted(spans)))
