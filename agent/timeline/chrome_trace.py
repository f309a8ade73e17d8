"""A trace in the Chrome trace-event format, as Perfetto and chrome://tracing open it.

Invariant: times are whole microseconds; a run is a process, each of its lanes a thread of it.

Source: "Trace Event Format", JSON Object Format with complete (`X`), instant (`i`) and metadata (`M`) events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agent.timeline.bars import Bar
from agent.timeline.lanes import lanes_of
from agent.timeline.trace_reader import Run


def chrome_trace(runs: Sequence[Run]) -> dict[str, Any]:
    """Return the runs as one JSON object of that format."""
    return {
        "traceEvents": [event for pid, run in enumerate(runs, 1) for event in _events(run, pid)],
        "displayTimeUnit": "ms",
        "otherData": {f"run {pid}": f"{run.source}, began {run.started_at}" for pid, run in enumerate(runs, 1)},
    }


def _events(run: Run, pid: int) -> Iterator[dict[str, Any]]:
    yield _metadata("process_name", pid, 0, {"name": run.question or run.source})
    yield _metadata("process_sort_index", pid, 0, {"sort_index": pid})
    for tid, lane in enumerate(lanes_of(run), 1):
        yield _metadata("thread_name", pid, tid, {"name": lane.name})
        yield _metadata("thread_sort_index", pid, tid, {"sort_index": tid})
        yield from (_event(bar, pid, tid) for bar in lane.bars)


def _metadata(name: str, pid: int, tid: int, args: Mapping[str, str | int]) -> dict[str, Any]:
    return {"ph": "M", "name": name, "pid": pid, "tid": tid, "ts": 0, "args": dict(args)}


def _event(bar: Bar, pid: int, tid: int) -> dict[str, Any]:
    start, end = _microseconds(bar.start_seconds), _microseconds(bar.end_seconds)
    event = {"name": bar.label or bar.kind.value, "cat": bar.kind.value, "pid": pid, "tid": tid, "ts": start}
    # Both ends are rounded, not the length: bars that follow each other must not overlap.
    span = {"ph": "X", "dur": end - start} if bar.end_seconds > bar.start_seconds else {"ph": "i", "s": "t"}
    return {**event, **span, "args": {"turn": bar.turn, **bar.facts}}


def _microseconds(seconds: float) -> int:
    return round(seconds * 1_000_000)
