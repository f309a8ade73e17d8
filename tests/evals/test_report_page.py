"""The report as a page: whole, self-contained, and safe to open whatever the questions and answers hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from evals.report import report_page, write_html
from evals.report.query_charts import MAX_BARS
from evals.runs import Conditions, PageStep, Record
from tests.evals.hand_made import CONDITIONS, SIMULATED, failed, four, missed, off, record, spec

HOSTILE = "</td></table><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\"'{{ 7 * 7 }}$x_1$\x0b\ud800"
VOID = {"meta", "link", "br", "hr", "img", "input"}


class Tags(HTMLParser):
    """Tells whether every element that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()}")

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass


def page(records: Sequence[Record], conditions: Conditions = SIMULATED) -> BeautifulSoup:
    """The page, once it is sure that it is well formed and fetches nothing."""
    text = report_page(records, conditions)
    tags = Tags()
    tags.feed(text)
    assert (tags.open, tags.faults) == ([], [])
    soup = BeautifulSoup(text, "lxml")
    assert soup.select("script, img, iframe, object, embed, link, base, form") == []
    names = [name for element in soup.find_all(True) for name in element.attrs]
    assert [name for name in names if name.startswith("on") or name == "src"] == []
    assert all(each["href"].startswith("#") for each in soup.select("[href]"))
    assert all(reference.startswith("#") for reference in re.findall(r"url\(([^)]*)\)", text))
    ids = [element["id"] for element in soup.select("[id]")]
    assert len(ids) == len(set(ids))
    return soup


def charts(soup: BeautifulSoup) -> list[str]:
    return [str(figure["id"]) for figure in soup.select("figure")]


def table(soup: BeautifulSoup, title: str) -> list[list[str]]:
    """The rows of the table of this title."""
    found = soup.select_one(f'[aria-label="{title}"] table')
    assert found is not None
    return [[cell.get_text(" ", strip=True) for cell in row.select("th, td")] for row in found.select("tbody tr")]


@pytest.fixture(scope="module")
def soup() -> BeautifulSoup:
    """The page of all hand-made records, under simulated conditions."""
    return page(four())


def test_it_shows_every_chart_and_every_table(soup: BeautifulSoup) -> None:
    assert charts(soup) == ["breakdown", "waits", "ratios", "served", "misses", "loads"]
    assert table(soup, "Answers and guesses")[1][:7] == ["spec", "100%", "33%", "67%", "33%", "33%", "33%"]
    assert table(soup, "Time")[1][1:5] == ["1.92", "1.3x", "1.0 to 2.4", "2.4x (Q1)"]
    assert table(soup, "Misses by why") == [["not named", "1"]]
    assert table(soup, "Right answers")[1] == ["single_source · easy", "100% (2 of 2)", "100% (2 of 2)"]
    assert [row[0] for row in table(soup, "Questions")] == ["Q1", "Q2"]


def test_charts_say_in_words_what_they_show(soup: BeautifulSoup) -> None:
    labels = [str(svg["aria-label"]) for svg in soup.select('figure svg[role="img"]')]
    assert len(labels) == 6
    assert "3 steps, 1 hits, 1 joins; misses: not named 1." in labels[4]
    tips = [title.get_text() for title in soup.select("svg title")]
    assert "Q1, spec: exposed web 0.83 s a turn" in tips


def test_charts_take_the_colours_of_the_page(soup: BeautifulSoup) -> None:
    drawn = " ".join(map(str, soup.select("svg")))
    assert "var(--teal)" in drawn
    assert re.findall(r"#[0-9a-f]{6}\b", drawn) == []
    assert "prefers-color-scheme: dark" in str(soup.style)


def test_what_is_simulated_stands_before_any_figure(soup: BeautifulSoup) -> None:
    text = soup.get_text()
    assert text.index("Page delays are simulated") < text.index("spec in short")
    assert page([off("a")], CONDITIONS).select(".caveats") == []


def test_nothing_that_was_asked_or_answered_is_markup() -> None:
    steps = (missed("visit /0", 1.0), missed(HOSTILE, 2.0, why_missed=HOSTILE))
    told = {"question": HOSTILE, "expected": HOSTILE, "kind": HOSTILE, "domain": HOSTILE, "lang": HOSTILE}
    runs = [
        record(HOSTILE, mode, steps, answer=f"{mode} {HOSTILE}", speculated=1, refused={HOSTILE: 1}, **told)
        for mode in ("off", "spec")
    ]
    runs = [replace(run, steps=tuple(replace(step, predictor=HOSTILE) for step in run.steps)) for run in runs]
    hit = replace(runs[1], steps=(steps[0], replace(runs[1].steps[1], kind="hit")))
    for told_of in (runs, [runs[0], hit]):
        soup = page(told_of, replace(SIMULATED, suite=HOSTILE, settings={"a": HOSTILE}))
        shown = soup.get_text()
        assert "<script>alert(1)</script>" in shown
        assert "{{ 7 * 7 }}" in shown
        assert len(table(soup, "Questions")) == 1


def test_a_page_with_hostile_text_can_be_written(tmp_path: Path) -> None:
    write_html(tmp_path / "report.html", [record("a", "off", (missed("visit /", 1.0),), question=HOSTILE)], CONDITIONS)
    assert "&lt;script&gt;" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_differing_trajectories_stand_side_by_side() -> None:
    soup = page([off("a"), spec("a", answer="43")])
    ways = [[item.get_text() for item in each.select("li")] for each in soup.select(".ways ol")]
    assert [way[-1] for way in ways] == ["answer '42'", "answer '43'"]


@pytest.mark.parametrize(
    ("records", "shown"),
    [
        ([], []),
        ([failed("a", "off"), failed("a", "spec")], []),
        ([off("a")], ["breakdown", "waits", "loads"]),
        ([spec("a")], ["breakdown", "waits", "served", "misses", "loads"]),
        ([record("a", "off", (), turns=0), record("a", "spec", (), turns=0)], ["breakdown", "waits", "ratios"]),
    ],
    ids=["none", "all failed", "off alone", "without off", "no steps"],
)
def test_any_records_give_a_page(records: list[Record], shown: list[str]) -> None:
    assert charts(page(records, CONDITIONS)) == shown


def test_what_loads_no_page_is_not_among_the_loads() -> None:
    moved = PageStep(action="more", kind="direct", load_seconds=0.001, waited_seconds=0.001)
    loads = page([record("a", "off", (*off("a").steps, moved))]).select_one("#loads")
    assert loads is not None
    assert "sub-pages (2)" in loads.get_text()


def test_many_questions_are_drawn_from_the_quickest_to_the_slowest() -> None:
    runs = [
        replace(run, item=f"{run.item}{number}")
        for number in range(MAX_BARS)
        for run in (off("a"), spec("a"), off("b"))
    ]
    runs += [replace(spec("b"), item=f"b{number}") for number in range(MAX_BARS)]
    soup = page(runs)
    drawn = soup.select_one("#waits")
    assert drawn is not None
    assert "from the shortest wait to the longest" in drawn.get_text()
    assert "Q1" not in drawn.get_text()
    assert len(table(soup, "Questions")) == 2 * MAX_BARS
    assert soup.select("details[open]") == []
