"""FRAMES' public layouts, with rows that were made up."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from evals.suites.errors import ItemsInvalid
from evals.suites.frames import load_frames
from evals.suites.item import Item

WIKI = "https://en.wikipedia.org/wiki/"
CELLS = [f"wikipedia_link_{number}" for number in range(1, 11)] + ["wikipedia_link_11+"]
NAMES = ["", "Prompt", "Answer", *CELLS, "reasoning_types", "wiki_links"]


def row(*links: str, rest: str = "", types: str = "Temporal reasoning", listed: list[str] | None = None) -> list[str]:
    """One row of the dataset's table."""
    cells = [*links, *[""] * (10 - len(links)), rest]
    told = [cell for cell in cells if cell] if listed is None else listed
    return ["0", "Which lamp was lit first,\nand where? ", " The red one ", *cells, types, str(told)]


def write(folder: Path, *rows: list[str], name: str = "test.tsv") -> Path:
    path = folder / name
    if name.endswith((".tsv", ".csv")):
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter="\t" if name.endswith(".tsv") else ",").writerows([NAMES, *rows])
        return path
    objects = [dict(zip(["id", *NAMES[1:]], each, strict=True)) for each in rows]
    lines = "\n".join(map(json.dumps, objects))
    path.write_text(lines if name.endswith(".jsonl") else json.dumps(objects), encoding="utf-8")
    return path


def sources(folder: Path, *links: str, rest: str = "", listed: list[str] | None = None) -> tuple[str, ...]:
    (item,) = load_frames(write(folder, row(*links, rest=rest, listed=listed)))
    return item.sources


@pytest.mark.parametrize("name", ["test.tsv", "copy.csv", "copy.json", "copy.jsonl"])
def test_every_layout_gives_the_same_questions(tmp_path: Path, name: str) -> None:
    rows = [
        row(f"{WIKI}Lamp", f"{WIKI}Oil_lamp", types="Temporal reasoning | Multiple constraints"),
        row(f"{WIKI}Wick"),
    ]
    first, second = load_frames(write(tmp_path, *rows, name=name))
    assert first == Item(
        id="frames-0",
        question="Which lamp was lit first,\nand where?",
        answer="The red one",
        golden=(("search:Lamp", f"{WIKI}Lamp"), ("search:Oil lamp", f"{WIKI}Oil_lamp")),
        sources=(f"{WIKI}Lamp", f"{WIKI}Oil_lamp"),
        lang="en",
        kind="multi_source",
        domain="Temporal reasoning | Multiple constraints",
    )
    assert (second.id, second.domain) == ("frames-1", "Temporal reasoning")


def test_the_last_cell_holds_several_addresses(tmp_path: Path) -> None:
    rest = f"{WIKI}Ayr,_Scotland, {WIKI}Bow_(boat),{WIKI}Cox \n{WIKI}Dee; "
    expected = tuple(WIKI + title for title in ("Lamp", "Ayr,_Scotland", "Bow_(boat)", "Cox", "Dee"))
    assert sources(tmp_path, f"{WIKI}Lamp", rest=rest) == expected


def test_remarks_beside_an_address_are_left_out(tmp_path: Path) -> None:
    assert sources(tmp_path, f" {WIKI}Lamp (NOT REQUIRED, and/or BUT HELPFUL) ") == (f"{WIKI}Lamp",)


def test_an_article_is_one_source_in_all_its_spellings(tmp_path: Path) -> None:
    spellings = [f"{WIKI}Caf%C3%A9#History", f"{WIKI}Café", "en.m.wikipedia.org/wiki/Caf%c3%a9"]
    (found,) = sources(tmp_path, *spellings, listed=[f"{WIKI}Caf%C3%A9#:~:text=a,b."])
    assert found in (f"{WIKI}Caf%C3%A9", f"{WIKI}Café", f"{WIKI}Caf%c3%a9")


def test_a_link_that_only_the_list_has_is_a_source(tmp_path: Path) -> None:
    assert sources(tmp_path, f"{WIKI}Lamp", listed=[f"{WIKI}Wick"]) == (f"{WIKI}Lamp", f"{WIKI}Wick")


def test_a_list_may_be_a_list(tmp_path: Path) -> None:
    path = tmp_path / "copy.json"
    path.write_text(json.dumps([{"question": "Q?", "answer": "A", "wiki_links": [f"{WIKI}Lamp"]}]))
    (item,) = load_frames(path)
    assert (item.question, item.sources, item.domain) == ("Q?", (f"{WIKI}Lamp",), "")


def test_a_copy_without_links_can_be_asked(tmp_path: Path) -> None:
    path = tmp_path / "copy.jsonl"
    path.write_text(json.dumps({"id": "x", "question": "Q?", "answer": "A"}))
    (item,) = load_frames(path)
    assert (item.sources, item.golden, item.kind) == ((), (), "multi_source")


@pytest.mark.parametrize(
    ("link", "way"),
    [
        (f"{WIKI}Rock_%26_Roll", ("search:Rock & Roll", f"{WIKI}Rock_%26_Roll")),
        (
            "https://en.wikipedia.org/w/index.php?search=tall+moss&title=Special:Search",
            ("search:tall moss", "https://en.wikipedia.org/w/index.php?search=tall+moss&title=Special:Search"),
        ),
        (
            "https://en.wikipedia.org/w/index.php?title=Big_Bay&redirect=no",
            ("search:Big Bay", "https://en.wikipedia.org/w/index.php?title=Big_Bay&redirect=no"),
        ),
        ("https://w.wiki/Ab1", ("https://w.wiki/Ab1",)),
    ],
)
def test_the_way_to_an_article_is_a_search_for_its_title(tmp_path: Path, link: str, way: tuple[str, ...]) -> None:
    (item,) = load_frames(write(tmp_path, row(link)))
    assert item.golden == (way,)


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (row("see below"), 'wikipedia_link_1: expected the address of an article, found "see below"'),
        (row(rest="many"), "wikipedia_link_11+: expected the address of an article"),
        (row(listed=["none"]), "wiki_links: expected the address of an article"),
        ([*row()[:-1], "[1]"], "wiki_links: expected a list of addresses, as Python writes one"),
        ([*row()[:-1], "open(0)"], "wiki_links: expected a list of addresses"),
        (["1", "", *row()[2:]], "Prompt or prompt or Question or question: expected a text that is not empty"),
        (row()[:-1], "expected 16 cells"),
        ([*row(), "more"], "expected 16 cells"),
    ],
)
def test_a_broken_row_is_named_with_its_field(tmp_path: Path, broken: list[str], problem: str) -> None:
    with pytest.raises(ItemsInvalid) as caught:
        load_frames(write(tmp_path, row(f"{WIKI}Lamp"), broken))
    assert f"test.tsv: row 2: {problem}" in str(caught.value)


def test_a_table_with_an_open_quote_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "test.tsv"
    path.write_text('\tPrompt\tAnswer\n0\t"never closed\tA\n')
    with pytest.raises(ItemsInvalid, match=r"test\.tsv: near line \d: "):
        load_frames(path)
