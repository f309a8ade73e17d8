"""The report on a terminal."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest
from rich.console import Console

from evals.report import print_report
from evals.runs import Conditions, Record
from tests.evals.hand_made import CONDITIONS, SIMULATED, failed, four, missed, off, record, spec


def printed(records: Sequence[Record], conditions: Conditions = CONDITIONS, *, width: int = 100) -> str:
    file = io.StringIO()
    print_report(records, conditions, Console(file=file, width=width))
    return file.getvalue()


def row(text: str, table: str, mode: str) -> list[str]:
    """The cells of a mode's row in the table of this title."""
    lines = text.partition(table)[2].splitlines()
    return next(line.split() for line in lines if line.split()[:1] == [mode])


def test_every_mode_has_a_row_in_every_table() -> None:
    text = printed(four())
    shares = ["spec", "100%", "33%", "67%", "33%", "33%", "33%", "75%", "78%", "same"]
    assert row(text, "Answers and guesses", "spec") == shares
    waits = ["spec", "1.92", "1.3x", "1.0", "to", "2.4", "2.4x", "1.33", "1.4x", "1.0", "to", "8.0", "1.4x"]
    assert row(text, "Exposed web time", "spec") == waits
    wholes = ["spec", "2.5", "7.50", "4.25", "11.8", "1.1x", "90", "9", "$0.7500"]
    assert row(text, "A question", "spec") == wholes
    assert row(text, "Answers and guesses", "off")[-3:] == ["-", "-", "-"]
    assert "spec, hits and joins by whose guess it was: rank 1, draft 1" in text
    assert row(text, "Misses by why", "not") == ["not", "named", "1"]


def test_what_is_simulated_is_said_first() -> None:
    text = printed(four(), SIMULATED)
    assert text.startswith("SIMULATED: Page delays are simulated")
    assert text.index("The target is simulated") < text.index("Figures are over 2 questions")
    assert "simulated" not in printed(four()).lower()


@pytest.mark.parametrize("width", [80, 100])
def test_nothing_is_cut_and_nothing_told_by_colour(width: int) -> None:
    modes = ("off", "lru", "random", "rank", "draft", "spec", "oracle")
    steps = (missed("visit /0", 63.25), missed("visit /1", 120.5, why_missed="no slot"))
    runs = [record("a", mode, steps, speculated=3, tokens={"target_in": 1_234_567}) for mode in modes]
    text = printed(runs, SIMULATED, width=width)
    assert "…" not in text
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= width


def test_what_is_left_out_is_said() -> None:
    text = printed([*four(), failed("c", "off"), record("c", "spec", ()), failed("a", "draft")])
    assert "Left out: 1 question (error in off 1)." in text
    assert "every question ended in an error: draft" in text


def test_a_differing_trajectory_is_named() -> None:
    text = printed([off("a"), spec("a", answer="43")])
    assert row(text, "Answers and guesses", "spec")[-2:] == ["1", "differ"]
    assert "spec went another way than off in 1 question: a" in text


def test_markup_in_what_was_measured_is_text() -> None:
    steps = (missed("visit /0", 1.0), missed("visit /1", 1.0, why_missed="[red]why[/red]"))
    assert "[red]why[/red]" in printed([record("a", "spec", steps, speculated=1)])


@pytest.mark.parametrize("records", [[], [failed("a", "off")]])
def test_nothing_to_compare_is_said(records: list[Record]) -> None:
    assert "nothing to compare yet" in printed(records)


def test_one_mode_alone_has_figures() -> None:
    assert row(printed([off("a")]), "Exposed web time", "off")[:2] == ["off", "2.00"]
    assert row(printed([spec("a")]), "Answers and guesses", "spec")[-1] == "-"
