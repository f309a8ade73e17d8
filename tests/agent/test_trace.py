"""The trace: whole lines, whatever happens."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.errors import TraceUnwritable
from agent.events import Started, Thinking
from agent.trace import Trace, default_path
from speccache.events import Event, EventKind


def started(url: str = "http://site.test/") -> Started:
    return Started(at_seconds=100.0, question="what?", url=url, target="script")


def test_one_object_a_line_on_one_clock(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "run.jsonl"
    with Trace(path) as trace:
        trace(started())
        assert len(path.read_text().splitlines()) == 2, "written as it happens"
        trace(Thinking(at_seconds=100.5, turn=1))
        trace(Event(kind=EventKind.HIT, at_seconds=102.0, turn=1, action="visit 3", seconds=1.5))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["event"], line["at_s"]) for line in lines] == [
        ("trace", 0.0),
        ("started", 0.0),
        ("thinking", 0.5),
        ("event", 2.0),
    ]
    assert lines[3]["kind"] == "hit"


def test_the_first_line_names_the_format_and_the_time_of_day(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Trace(path, now=lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)) as trace:
        trace(started())
    heading = json.loads(path.read_text().splitlines()[0])
    assert heading == {"event": "trace", "version": 1, "at_s": 0.0, "started_at": "2026-01-02T03:04:05+00:00"}


def test_half_a_character_is_written_as_an_escape(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Trace(path) as trace:
        trace(started("http://site.test/\ud83d"))
    assert json.loads(path.read_bytes().splitlines()[1])["url"] == "http://site.test/\ud83d"


def test_passwords_in_addresses_are_masked(tmp_path: Path) -> None:
    with Trace(tmp_path / "run.jsonl") as trace:
        trace(started("https://me:secret@site.test/path"))
    text = (tmp_path / "run.jsonl").read_text()
    assert "secret" not in text
    assert "https://***@site.test/path" in text


def test_a_place_that_cannot_be_written_is_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TraceUnwritable, match="cannot be written") as error:
        Trace(tmp_path / "file" / "run.jsonl")
    assert "--trace" in error.value.hint


def test_a_full_disk_ends_the_trace_not_the_run(caplog: pytest.LogCaptureFixture) -> None:
    trace = Trace(Path("/dev/full"))
    with caplog.at_level(logging.WARNING):
        trace(started())
        trace(started())
    trace.close()
    assert len(caplog.records) == 1
    assert "No space left" in caplog.text


def test_a_trace_is_named_after_time_and_question() -> None:
    path = default_path("Wer? / ../ 在哪里", now=lambda: datetime(2026, 1, 2, 3, 4, 5, 6))
    assert path == Path("runs/20260102-030405-000006-wer-在哪里.jsonl")
    assert default_path("???").name.endswith("-run.jsonl")
