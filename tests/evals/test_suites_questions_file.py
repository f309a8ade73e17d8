from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.suites.errors import ItemsInvalid
from evals.suites.item import Item
from evals.suites.questions_file import load_items, write_items

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "suites.md"

TEXTS = st.text(max_size=20)
FILLED = TEXTS.filter(str.strip)
LISTS = st.lists(TEXTS, max_size=3).map(tuple)
ITEMS = st.builds(
    Item,
    id=FILLED,
    question=FILLED,
    answer=FILLED,
    url=TEXTS,
    site=TEXTS,
    answer_tokens=LISTS,
    golden=st.lists(LISTS, max_size=3).map(tuple),
    sources=LISTS,
    lang=TEXTS,
    kind=TEXTS,
    difficulty=TEXTS,
    domain=TEXTS,
)

MINIMAL = {"id": "a-1", "question": "Where?", "answer": "There", "url": "https://a.example/"}
ON_SITE = {
    "id": "manual-1",
    "site": "manual",
    "question": "Which port?",
    "answer": "5432",
    "answer_tokens": ["port"],
    "root_path": "/index.html",
    "golden_path": ["/config.html", "/port.html"],
    "hops": 2,
}


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@given(st.lists(ITEMS, min_size=1, max_size=4, unique_by=lambda item: item.id).map(tuple))
def test_what_is_written_is_read_back(items: tuple[Item, ...]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "items.jsonl"
        write_items(path, items)
        assert load_items(path) == items


def test_most_fields_may_be_left_out(tmp_path: Path) -> None:
    expected = Item(id="a-1", question="Where?", answer="There", url="https://a.example/")
    assert load_items(write(tmp_path / "a.jsonl", MINIMAL)) == (expected,)


def test_a_question_may_begin_with_a_search(tmp_path: Path) -> None:
    (item,) = load_items(write(tmp_path / "a.jsonl", MINIMAL | {"url": ""}))
    assert (item.url, item.site) == ("", "")


def test_a_folder_holds_files_of_both_formats(tmp_path: Path) -> None:
    write(tmp_path / "b.jsonl", ON_SITE)
    write(tmp_path / "a.jsonl", MINIMAL)
    (tmp_path / "README.md").write_text("not read")
    own, on_site = load_items(tmp_path)
    assert own.id == "a-1"
    assert on_site == Item(
        id="manual-1",
        question="Which port?",
        answer="5432",
        url="/index.html",
        site="manual",
        answer_tokens=("port",),
        golden=(("/config.html", "/port.html"),),
        sources=("/port.html",),
    )


def test_an_answer_on_the_first_page_has_it_as_its_source(tmp_path: Path) -> None:
    (item,) = load_items(write(tmp_path / "a.jsonl", ON_SITE | {"golden_path": [], "hops": 0}))
    assert (item.golden, item.sources) == (((),), ("/index.html",))


@pytest.mark.parametrize(
    ("row", "problem", "hint"),
    [
        (
            MINIMAL | {"anwser": "x"},
            "there is no field 'anwser'; did you mean 'answer'?",
            "The fields are id, question",
        ),
        (MINIMAL | {"zzz": "x"}, "there is no field 'zzz'", "The fields are id, question"),
        (MINIMAL | {"answer": " "}, "answer: expected a text that is not empty", ""),
        ({"question": "Q", "answer": "A", "url": ""}, "id: expected a text that is not empty, found nothing", ""),
        ({"id": "1", "question": "Q", "answer": "A"}, "url or site: expected where to start", ""),
        (MINIMAL | {"lang": None}, "lang: expected a text, found nothing", ""),
        (MINIMAL | {"sources": "x"}, 'sources: expected a list of texts, found "x"', ""),
        (MINIMAL | {"golden": ["x"]}, "golden: expected a list of lists of texts", ""),
    ],
)
def test_a_broken_line_is_named_with_its_field(tmp_path: Path, row: object, problem: str, hint: str) -> None:
    with pytest.raises(ItemsInvalid) as caught:
        load_items(write(tmp_path / "a.jsonl", MINIMAL | {"id": "a-0"}, row))
    assert f"a.jsonl:2: {problem}" in str(caught.value)
    assert caught.value.hint.startswith(hint or "Mend it there")


def test_a_broken_line_about_a_site_is_named(tmp_path: Path) -> None:
    with pytest.raises(ItemsInvalid, match=r"a\.jsonl:2: hops is 3, but golden_path has 2 links"):
        load_items(write(tmp_path / "a.jsonl", ON_SITE, ON_SITE | {"hops": 3}))


def test_an_id_is_taken_once(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", MINIMAL)
    write(tmp_path / "b.jsonl", MINIMAL)
    with pytest.raises(ItemsInvalid, match=r"b\.jsonl: the id 'a-1' was taken before"):
        load_items(tmp_path)


def test_a_folder_without_questions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ItemsInvalid, match=r"holds no file that ends with \.jsonl"):
        load_items(tmp_path)


def test_the_documented_example_is_read(tmp_path: Path) -> None:
    (example,) = re.findall(r"```json\n(.+?)```", DOCUMENTATION.read_text(encoding="utf-8"), flags=re.DOTALL)
    path = tmp_path / "example.jsonl"
    path.write_text(example, encoding="utf-8")
    assert len(load_items(path)) == 3
