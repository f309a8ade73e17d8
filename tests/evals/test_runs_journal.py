"""The folder of results: nothing is lost, nothing of other conditions is mixed in."""

from __future__ import annotations

import resource
from dataclasses import replace
from pathlib import Path

import pytest

from evals.runs import Conditions, PageStep, Record, Scores
from evals.runs.errors import RunsUnusable
from evals.runs.journal import RUNS, Journal

CONDITIONS = Conditions(suite="toy", target="gold", is_target_simulated=True, time_scale=0.2, settings={"act": True})
STEP = PageStep(action="visit /en", kind="miss", load_seconds=0.5, waited_seconds=0.5, why_missed="first page")
RECORD = Record(
    suite="toy",
    item="q1",
    mode="off",
    question="哪一年？",
    expected="1959",
    status="answered",
    answer="1959",
    sources=("/en",),
    scores=Scores(exact=True, contains=True, f1=1.0, supported=True),
    steps=(STEP,),
    refused={"over-cap": 3},
    tokens={"target_in": 5},
)


def test_what_was_kept_is_there_at_the_next_start(tmp_path: Path) -> None:
    with Journal(tmp_path / "new" / "folder", CONDITIONS) as journal:
        assert journal.record("q1", "off") is None
        journal.add(RECORD)
    with Journal(tmp_path / "new" / "folder", CONDITIONS) as journal:
        assert journal.records == (RECORD,)
        assert journal.record("q1", "off") == RECORD


def test_a_line_cut_short_is_dropped_and_asked_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Journal(tmp_path, CONDITIONS) as journal:
        journal.add(RECORD)
        journal.add(replace(RECORD, item="q2"))
    runs = tmp_path / RUNS
    runs.write_bytes(runs.read_bytes()[:-20])
    with Journal(tmp_path, CONDITIONS) as journal:
        assert journal.record("q2", "off") is None
        journal.add(replace(RECORD, item="q2", answer="again"))
    assert "cut short" in caplog.text
    with Journal(tmp_path, CONDITIONS) as journal:
        assert [record.answer for record in journal.records] == ["1959", "again"]


def test_what_could_not_be_asked_is_asked_again_and_the_later_record_counts(tmp_path: Path) -> None:
    with Journal(tmp_path, CONDITIONS) as journal:
        journal.add(replace(RECORD, status="error", broken="no browser"))
        assert journal.record("q1", "off") is None
        journal.add(RECORD)
    with Journal(tmp_path, CONDITIONS) as journal:
        assert journal.records == (RECORD,)


def test_half_a_character_of_a_page_is_kept(tmp_path: Path) -> None:
    half = replace(RECORD, answer="1959 \ud83d")
    with Journal(tmp_path, CONDITIONS) as journal:
        journal.add(half)
    with Journal(tmp_path, CONDITIONS) as journal:
        assert journal.records == (half,)


def test_a_full_disk_is_told_and_lets_go_of_the_folder(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    journal = Journal(tmp_path, CONDITIONS).__enter__()
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        with pytest.raises(RunsUnusable, match="cannot be written") as caught:
            journal.add(RECORD)
        journal.__exit__()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.hint.startswith("Make room")
    with Journal(tmp_path, CONDITIONS) as journal:
        assert journal.records == ()


def test_a_start_that_found_nothing_leaves_no_folder_of_its_own(tmp_path: Path) -> None:
    mine, kept = tmp_path / "mine", tmp_path / "kept"
    with Journal(mine, CONDITIONS):
        assert mine.is_dir()
    assert not mine.exists()
    with Journal(kept, CONDITIONS):
        (kept / "traces").mkdir()
    assert {path.name for path in kept.iterdir()} >= {"traces", "conditions.json"}
    with Journal(mine, CONDITIONS) as journal:
        journal.add(RECORD)
    assert (mine / RUNS).exists()


def test_other_conditions_are_refused_and_named(tmp_path: Path) -> None:
    with Journal(tmp_path, CONDITIONS):
        pass
    with pytest.raises(RunsUnusable, match=r"time_scale was 0\.2, is 0\.5") as caught:
        Journal(tmp_path, replace(CONDITIONS, time_scale=0.5)).__enter__()
    assert "--out" in caught.value.hint
    with Journal(tmp_path, CONDITIONS):  # the refusal let go of the folder
        pass


def test_two_runs_do_not_write_into_one_folder(tmp_path: Path) -> None:
    with Journal(tmp_path, CONDITIONS), pytest.raises(RunsUnusable, match="another run"):
        Journal(tmp_path, CONDITIONS).__enter__()


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunsUnusable, match="cannot be written"):
        Journal(tmp_path / "file" / "folder", CONDITIONS).__enter__()


@pytest.mark.parametrize("line", ["[]", "{}", "no json", '{"item": 1}'])
def test_a_broken_line_is_named(tmp_path: Path, line: str) -> None:
    with Journal(tmp_path, CONDITIONS) as journal:
        journal.add(replace(RECORD, status="error", broken="no browser"))
        journal.add(RECORD)
    with (tmp_path / RUNS).open("a", encoding="utf-8") as runs:
        runs.write(line + "\n")
    with pytest.raises(RunsUnusable, match=r"runs\.jsonl:3 is no record"):
        Journal(tmp_path, CONDITIONS).__enter__()


def test_broken_conditions_are_named(tmp_path: Path) -> None:
    (tmp_path / "conditions.json").write_text('{"suite": "toy", "colour": "red"}')
    with pytest.raises(RunsUnusable, match=r"conditions\.json cannot be read"):
        Journal(tmp_path, CONDITIONS).__enter__()
