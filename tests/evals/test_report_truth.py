"""Every figure of the reports, against a second, plain implementation of what it is defined as."""

from __future__ import annotations

import io
import random
from typing import Any

import pytest
from bs4 import BeautifulSoup
from rich.console import Console

from evals.report import print_report, report_json, report_page
from evals.runs import Record
from tests.evals import plain_figures as plain
from tests.evals.hand_made import CONDITIONS

Row = dict[str, Any]


def check_report(rows: list[Row], report: Row) -> None:
    """Check that a report says what its records say."""
    by_mode = plain.compared(rows)
    assert list(report["modes"]) == list(by_mode)
    assert report["questions"]["compared"] == len(next(iter(by_mode.values())))
    for mode, of_mode in by_mode.items():
        _check(report["modes"][mode], plain.mode_figures(of_mode))
    for mode, of_mode in by_mode.items():
        if "off" in by_mode and mode != "off":
            _check(report["compared"][mode], plain.comparison(by_mode["off"], of_mode))
            _check(report["counterfactual"][mode], plain.counterfactual(by_mode["off"], of_mode))
            assert report["modes"][mode]["same_trajectory"] is (not report["compared"][mode]["differing"])
    for each in report["compared"].values():
        low, high = each["interval"]
        assert low <= each["ratio"] <= high


def _check(report: Row, figures: Row) -> None:
    for path, figure in figures.items():
        told = plain.in_report(report, path)
        expected = pytest.approx(figure, abs=6e-5) if isinstance(figure, float) else figure
        assert told == expected, path


def drawn(seed: int) -> list[Row]:
    """Records of a few questions in four modes, with all that can come: errors, repeats, kept pages, no steps."""
    draw = random.Random(seed)
    rows = []
    for number in range(6):
        for mode in ("off", "lru", "rank", "spec"):
            rows += [_row(draw, f"q{number}", mode) for _ in range(draw.choice((1, 1, 1, 2)))]
    # At least two whole questions, so that there is an interval.
    rows += [_row(draw, f"q{number}", mode, status="answered") for number in (0, 1) for mode in ("off", "lru", "rank")]
    return [*rows, *(_row(draw, f"q{number}", "spec", status="limit") for number in (0, 1))]


def _row(draw: random.Random, item: str, mode: str, **told: Any) -> Row:
    steps = [_step(draw, at) for at in range(draw.randint(0, 5))]
    started = draw.randint(0, 9) if mode not in ("off", "lru") else 0
    measured = draw.choice((0.0, draw.uniform(1, 9)))
    row = {
        "suite": "drawn",
        "item": item,
        "mode": mode,
        "question": item,
        "expected": "42",
        "kind": draw.choice(("single_source", "multi_source | tabular")),
        "difficulty": draw.choice(("", "easy")),
        "lang": draw.choice(("en", "zh")),
        "status": draw.choice(("answered", "answered", "answered", "gave_up", "limit", "error")),
        "broken": "",
        "answer": draw.choice(("42", "It is 42.", "43", "", " ")),
        "sources": [],
        "scores": {
            "exact": draw.random() < 0.4,
            "contains": draw.random() < 0.6,
            "f1": draw.random(),
            "judged": draw.choice((None, True, False)),
            "supported": draw.random() < 0.5,
            "right_page": draw.choice((None, True, False)),
        },
        "turns": draw.randint(0, 6),
        "steps": steps,
        "total_seconds": draw.uniform(5, 30),
        "llm_seconds": draw.uniform(3, 9),
        "exposed_seconds": sum(step["waited_seconds"] for step in steps) + draw.choice((0.0, 0.5)),
        "measured_seconds": measured,
        "bound_seconds": measured * draw.random(),
        "speculated": started,
        "wasted": draw.randint(0, started),
        "wasted_bytes": draw.randint(0, 9999),
        "refused": {draw.choice(("off-site", "over-cap")): draw.randint(1, 5)} if started else {},
        "tokens": {"target_in": draw.randint(0, 999), "draft_out": draw.randint(0, 99)},
        "cost_dollars": draw.choice((0.25, 0.5, 0.125, None)) if draw.random() < 0.1 else 0.5,
    }
    return row | told


def _step(draw: random.Random, at: int) -> Row:
    kind = draw.choice(("hit", "join", "miss", "direct"))
    load = draw.uniform(0.2, 5)
    return {
        "action": f"visit /{at}{draw.choice('aab')}",
        "kind": kind,
        "load_seconds": draw.choice((0.0, load)),
        "waited_seconds": 0.0 if kind == "hit" else load,
        "thought_seconds": draw.uniform(0, 3),
        "predictor": draw.choice(("", "rank", "draft")) if kind in ("hit", "join") else "",
        "rank": draw.randint(0, 5),
        "named": draw.random() < 0.5,
        "why_missed": draw.choice(("", "not guessed", "refused: off-site")) if kind == "miss" else "",
    }


@pytest.mark.parametrize("seed", range(12))
def test_the_report_for_programs_says_what_the_records_say(seed: int) -> None:
    rows = drawn(seed)
    check_report(rows, report_json([Record.parse(row) for row in rows], CONDITIONS))


def test_a_plain_count_finds_a_wrong_figure() -> None:
    rows = drawn(1)
    report = report_json([Record.parse(row) for row in rows], CONDITIONS)
    report["modes"]["spec"]["hit3"] += 0.01
    with pytest.raises(AssertionError, match="hit3"):
        check_report(rows, report)


def test_console_and_page_show_the_figures_of_the_report_for_programs() -> None:
    records = [Record.parse(row) for row in drawn(11)]
    report = report_json(records, CONDITIONS)
    console, page = _console(records), BeautifulSoup(report_page(records, CONDITIONS), "lxml")
    for mode, of_mode in report["modes"].items():
        versus, computed = report["compared"].get(mode), report["counterfactual"].get(mode)
        guesses = [_percent(of_mode[name]) for name in ("accuracy", "hit1", "hit3", "hit", "join", "miss")]
        assert _console_row(console, "Answers and guesses", mode)[:8] == [
            *guesses,
            _percent(of_mode["waste"]),
            _percent(of_mode["bound_share"]),
        ]
        assert _page_row(page, "Answers and guesses", mode)[:8] == [
            *guesses,
            f"{of_mode['guessable_steps']:,}",
            f"{of_mode['speculated']:,}",
        ]
        if versus:
            cells = _page_row(page, "Time", mode)
            assert (cells[1], cells[5]) == (f"{versus['ratio']:.1f}x", f"{versus['without_first_page']['ratio']:.1f}x")
            assert cells[9] == f"{versus['end_to_end']['ratio']:.1f}x"
            cells = _page_row(page, "Counterfactual, as the published code computes it", mode)
            assert (cells[0], cells[3]) == (_percent(computed["named"]), f"{computed['ratio']:.1f}x")
            assert _console_row(console, "Exposed web time", mode)[-1] == f"{computed['per_iteration']['ratio']:.1f}x"
    unjudged = {mode: each["scores"]["unjudged"] for mode, each in report["modes"].items()}
    assert _page_row(page, "Right answers", "not judged") == [f"{count}" for count in unjudged.values()]
    told = ", ".join(f"{mode} {count}" for mode, count in unjudged.items() if count)
    assert f"answers not judged, and taken as right where they hold the expected one: {told}" in console


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _console(records: list[Record]) -> str:
    file = io.StringIO()
    print_report(records, CONDITIONS, Console(file=file, width=200))
    return file.getvalue()


def _console_row(text: str, table: str, mode: str) -> list[str]:
    lines = text.partition(table)[2].splitlines()
    return next(line.split()[1:] for line in lines if line.split()[:1] == [mode])


def _page_row(page: BeautifulSoup, title: str, name: str) -> list[str]:
    rows = page.select(f'[aria-label="{title}"] tbody tr')
    cells = [[cell.get_text(strip=True) for cell in row.select("th, td")] for row in rows]
    return next(row[1:] for row in cells if row[0] == name)
