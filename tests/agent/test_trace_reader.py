"""Reading traces back: nothing that is whole is lost, and what is not is said."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from agent.console import ExitCode, exit_code
from agent.errors import TraceUnreadable
from agent.events import Finished, Started, Thinking
from agent.timeline.trace_reader import Record, read_trace
from agent.trace import Trace
from tests.agent.traces import HEADING, example, thinking, write

# Writes lines longer than any buffer for as long as it lives.
WRITER = """
import sys
from itertools import count
from pathlib import Path
from agent.events import Decided
from agent.target import Usage
from agent.trace import Trace
trace = Trace(Path(sys.argv[1]))
for turn in count():
    trace(Decided(at_seconds=0.0, turn=turn, action="x", thought="x" * 20_000, seconds=0.0, usage=Usage()))
    print(turn, flush=True)
"""


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Trace(path) as trace:
        trace(Started(at_seconds=5.0, question="was\u2028ist?", url="visit u", target="t"))
        trace(Thinking(at_seconds=6.5, turn=1))
        trace(Finished(at_seconds=9.0, status="gave_up", answer="", sources=("a", "b"), reason="none"))
    (run,) = read_trace(path)
    assert (run.source, run.question, run.status, run.notes) == (str(path), "was\u2028ist?", "gave_up", ())
    assert run.started_at.endswith("+00:00")
    assert [(record.name, record.at_seconds) for record in run.records] == [
        ("started", 0.0),
        ("thinking", 1.5),
        ("finished", 4.0),
    ]
    assert run.named("finished")[0].texts("sources") == ("a", "b")


def test_a_file_holds_several_runs(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    for question in ("one?", "two?"):
        with Trace(path) as trace:
            trace(Started(at_seconds=1.0, question=question, url="", target=""))
            trace(Started(at_seconds=2.0, question=question.upper(), url="", target=""))
    assert [run.question for run in read_trace(path)] == ["one?", "ONE?", "two?", "TWO?"]


def test_half_a_last_line_is_left_out_and_said(tmp_path: Path) -> None:
    path = write(tmp_path / "run.jsonl", example())
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    (run,) = read_trace(path)
    assert len(run.records) == len(example()) - 2
    assert run.status == "not finished"
    assert run.notes == (f"line {len(example())} is not whole, as after a crash; it was left out",)
    path.write_bytes(whole[:-1])
    assert read_trace(path)[0].notes == (), "only its line feed is missing"


@pytest.mark.parametrize("at", range(0, 1200, 37))
def test_wherever_it_is_cut_the_whole_lines_are_there(tmp_path: Path, at: int) -> None:
    path = write(tmp_path / "run.jsonl", example())
    whole = path.read_bytes()
    first = whole.index(b"\n")
    path.write_bytes(whole[: first + at])
    (run,) = read_trace(path)
    lines = whole[: first + at].split(b"\n")[1:]
    cut = bool(lines) and lines[-1] != b"" and lines[-1] not in whole.split(b"\n")
    assert len(run.records) == len([line for line in lines if line]) - cut
    assert len(run.notes) == cut


def test_a_run_after_a_crash_begins_on_a_line_of_its_own(tmp_path: Path) -> None:
    path = write(tmp_path / "run.jsonl", example()[:3])
    with path.open("a") as file:
        file.write('{"at_s": 2.0, "ev')
    with Trace(path) as trace:
        trace(Started(at_seconds=1.0, question="again?", url="", target=""))
    crashed, again = read_trace(path)
    assert (len(crashed.records), crashed.notes) == (2, ("line 4 is not whole, as after a crash; it was left out",))
    assert (again.question, again.notes) == ("again?", ())


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_killed_run_keeps_all_it_told(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Popen([sys.executable, "-c", WRITER, path], stdout=PIPE, text=True) as writer:
        assert writer.stdout is not None
        told = [writer.stdout.readline() for _ in range(50)]
        os.kill(writer.pid, signal.SIGKILL)
    turns = [int(turn) for turn in told]
    (run,) = read_trace(path)
    assert [record.turn for record in run.records][: len(turns)] == turns
    assert len(run.notes) <= 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("root:x:0:0\n", "is no trace"),
        ('{"a": 1}\n', "is no trace"),
        ("[1, 2]\n", "is no trace"),
        (json.dumps(HEADING)[:40], "is no trace"),
        (json.dumps(thinking(1.0, turn=1)), "is no trace"),
        (json.dumps(HEADING | {"version": 2}), "has version 2"),
        (json.dumps(HEADING | {"version": "one"}), "has version 0"),
        ("\x00\x01\x02" * 100, "is no trace"),
    ],
)
def test_what_is_no_trace_is_an_error(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "file"
    path.write_text(content)
    with pytest.raises(TraceUnreadable, match=said) as error:
        read_trace(path)
    assert error.value.hint
    assert exit_code(error.value) is ExitCode.USAGE


@pytest.mark.parametrize("name", ["absent", "."])
def test_a_file_that_cannot_be_opened_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(TraceUnreadable, match="cannot be read"):
        read_trace(tmp_path / name)


DAMAGED = [
    "{}",
    "null",
    "[" * 5000,
    '{"event": "thinking"}',
    '{"event": 1, "at_s": 1}',
    '{"event": "x", "at_s": NaN}',
    '{"event": "x", "at_s": true}',
    '{"event": "x", "at_s": 1' + "0" * 400 + "}",
    "\x00",
    "\udcff",
]


@pytest.mark.parametrize("line", DAMAGED)
def test_a_damaged_line_costs_only_itself(tmp_path: Path, line: str) -> None:
    path = tmp_path / "run.jsonl"
    lines = [json.dumps(HEADING), line, "", json.dumps(thinking(1.0, turn=1))]
    path.write_bytes("\n".join(lines).encode(errors="surrogateescape"))
    (run,) = read_trace(path)
    assert [record.name for record in run.records] == ["thinking"]
    assert len(run.notes) == 1


def test_fields_of_another_kind_count_as_missing() -> None:
    fields = {"text": 1, "number": "x", "infinite": float("inf"), "less": -1, "true": True, "list": "abc", "group": []}
    record = Record(name="x", at_seconds=0.0, fields=fields)
    assert (record.text("text"), record.texts("list"), record.group("group").text("x")) == ("", (), "")
    assert [record.number(name) for name in ("number", "infinite", "less", "true", "absent")] == [0.0] * 5
