"""WebWalkerQA's public layouts, with rows that were made up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evals.suites.errors import ItemsInvalid
from evals.suites.item import Item
from evals.suites.webwalkerqa import load_webwalkerqa

ROOT = "https://harbour.example/"
SOURCES = [f"{ROOT}news/ferry", f"{ROOT}tides/"]
PATHS = ["root->News & views->The  ferry\n is back", "root->Tides"]
HUB = {
    "question": " When does the ferry sail, and how high is the tide then? ",
    "answer": "At six; 2.4 m.",
    "root_url": ROOT,
    "info": {
        "type": "multi_source",
        "difficulty_level": "medium",
        "lang": "en",
        "domain": "organization",
        "source_website": SOURCES,
        "golden_path": PATHS,
    },
}
CARD = {
    "Question": HUB["question"],
    "Answer": HUB["answer"],
    "Root_Url": ROOT,
    "Info": {
        "Hop": "multi-source",
        "Domain": "Organization",
        "Language": "English",
        "Difficulty_Level": "Medium",
        "Source_Website": SOURCES,
        "Golden_Path": PATHS,
    },
}
FLAT: dict[str, Any] = {
    "Question": HUB["question"],
    "answer": HUB["answer"],
    "domain": "organization",
    "source_website": SOURCES,
    "golden_path": PATHS,
    "type": "multi_source",
    "difficulty_level": "medium",
    "lang": "en",
    "root_url": ROOT,
}
ITEM = Item(
    id="webwalkerqa-0",
    question="When does the ferry sail, and how high is the tide then?",
    answer="At six; 2.4 m.",
    url=ROOT,
    golden=(("News & views", "The ferry is back"), ("Tides",)),
    sources=tuple(SOURCES),
    lang="en",
    kind="multi_source",
    difficulty="medium",
    domain="organization",
)


def write(folder: Path, *rows: Mapping[str, Any], name: str = "main.jsonl") -> Path:
    path = folder / name
    lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    path.write_text(lines if name.endswith(".jsonl") else json.dumps(rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("row", [HUB, CARD, FLAT], ids=["hub", "card", "flat"])
@pytest.mark.parametrize("name", ["main.jsonl", "test.json"])
def test_every_layout_gives_the_same_question(tmp_path: Path, row: dict[str, Any], name: str) -> None:
    assert load_webwalkerqa(write(tmp_path, row, name=name)) == (ITEM,)


def test_rows_are_numbered_in_their_order(tmp_path: Path) -> None:
    items = load_webwalkerqa(write(tmp_path, HUB, CARD, FLAT))
    assert [item.id for item in items] == ["webwalkerqa-0", "webwalkerqa-1", "webwalkerqa-2"]


@pytest.mark.parametrize(
    ("told", "question", "lang"),
    [
        ("", "渡船几点开？", "zh"),
        ("", "When does it sail?", "en"),
        ("zh", "IEEE 2024?", "zh"),
        ("Chinese", "渡船？", "zh"),
        (None, "渡船？", "zh"),
    ],
)
def test_a_language_that_is_not_told_is_seen(tmp_path: Path, told: str | None, question: str, lang: str) -> None:
    (item,) = load_webwalkerqa(write(tmp_path, FLAT | {"Question": question, "lang": told}))
    assert item.lang == lang


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ("single_source", "single_source"),
        ("single_source_3", "single_source"),
        ("", "multi_source"),
        ("other", "other"),
    ],
)
def test_kinds_are_spelt_alike(tmp_path: Path, told: str, kind: str) -> None:
    (item,) = load_webwalkerqa(write(tmp_path, FLAT | {"type": told}))
    assert item.kind == kind


@pytest.mark.parametrize(
    ("paths", "golden"),
    [
        ("root->Tides", (("Tides",),)),
        (["Tides->Today"], (("Tides", "Today"),)),
        (["root->A > B-> ->C"], (("A > B", "C"),)),
        (["root"], ((),)),
        ([], ()),
    ],
)
def test_the_texts_of_links_are_the_way(tmp_path: Path, paths: object, golden: tuple[tuple[str, ...], ...]) -> None:
    (item,) = load_webwalkerqa(write(tmp_path, FLAT | {"golden_path": paths}))
    assert item.golden == golden


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"Question": " "}, 'question or Question: expected a text that is not empty, found " "'),
        ({"answer": None}, "answer or Answer: expected a text that is not empty, found nothing"),
        ({"root_url": "harbour.example"}, "root_url: expected an address that begins with http"),
        ({"source_website": ["news"]}, "source_website: expected an address that begins with http"),
        ({"golden_path": [3]}, "golden_path or Golden_Path: expected a list of texts, found"),
        ({"info": "none"}, 'info or Info: expected an object, found "none"'),
        ({"lang": 7}, "lang or Language: expected a text, found 7"),
    ],
)
def test_a_broken_row_is_named_with_its_field(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    with pytest.raises(ItemsInvalid) as caught:
        load_webwalkerqa(write(tmp_path, FLAT, FLAT | change))
    assert f"main.jsonl:2: {problem}" in str(caught.value)
    with pytest.raises(ItemsInvalid, match=r"test\.json: row 2: "):
        load_webwalkerqa(write(tmp_path, FLAT, FLAT | change, name="test.json"))


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.jsonl", "{}\n{", "a.jsonl:2: no JSON"),
        ("a.jsonl", "[]", "a.jsonl:1: expected a JSON object, found list"),
        ("a.jsonl", "\n \n", "a.jsonl holds no question"),
        ("a.json", "{}", "a.json: expected a JSON array, found dict"),
        ("a.json", "[1]", "a.json: row 1: expected a JSON object, found int"),
        ("a.xlsx", "", "a.xlsx is of no known format"),
    ],
)
def test_a_file_of_another_format_is_refused(tmp_path: Path, name: str, content: str, problem: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(ItemsInvalid) as caught:
        load_webwalkerqa(path)
    assert problem in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ItemsInvalid, match=r"cannot read .*missing\.jsonl: No such file") as caught:
        load_webwalkerqa(tmp_path / "missing.jsonl")
    assert caught.value.hint
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ItemsInvalid, match=r"binary\.json: it is no UTF-8 text"):
        load_webwalkerqa(tmp_path / "binary.json")


def test_a_long_value_is_shown_shortened(tmp_path: Path) -> None:
    with pytest.raises(ItemsInvalid) as caught:
        load_webwalkerqa(write(tmp_path, FLAT | {"root_url": "x" * 1000}))
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("between", ["\uff1b", ",", " ", "; "])
def test_two_addresses_in_one_text_are_two(tmp_path: Path, between: str) -> None:
    (item,) = load_webwalkerqa(write(tmp_path, FLAT | {"source_website": [between.join(SOURCES)]}))
    assert item.sources == tuple(SOURCES)
