from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.targets.passages import MAX_CHARS, Passage, passages, plain, sentences


def test_a_table_row_names_its_columns_and_keeps_its_group() -> None:
    found = passages(
        "## Codes\n\n| Code | Name |\n| --- | --- |\n| Class 40 | |\n| `40P01` | [deadlock_detected][3] |\n"
    )

    assert found[0] == Passage(text="Code: 40P01; Name: deadlock_detected", label="Class 40", context="Codes: Class 40")


def test_a_definition_stands_under_its_term() -> None:
    (passage,) = passages("# Settings\n\n`wal_sender_timeout` (integer)\n:   It ends idle links.\n")

    assert (passage.text, passage.label) == ("It ends idle links.", "wal_sender_timeout (integer)")


def test_what_follows_in_a_definition_still_belongs_to_it() -> None:
    *_, passage = passages("term\n:   First words.\n\n    The default is 60 seconds.\n")

    assert (passage.text, passage.label) == ("The default is 60 seconds.", "term")


def test_nested_items_stand_under_the_item_above_and_leave_it_again() -> None:
    found = passages("# Fruit\n\n- apples\n  - red ones\n- pears\n\nMore of it.\n")

    assert [(each.text, each.label) for each in found] == [
        ("apples", "Fruit"), ("red ones", "apples"), ("pears", "Fruit"), ("More of it.", "Fruit"),
    ]  # fmt: skip


def test_an_item_that_begins_with_a_heading() -> None:
    *_, passage = passages("- ### [Wave Flume][4]\n\n  For making waves.\n")

    assert (passage.text, passage.label) == ("For making waves.", "Wave Flume")


def test_headings_close_the_deeper_ones() -> None:
    *_, passage = passages("# A\n\n### B\n\nText one.\n\n## C\n\nText two.\n")

    assert passage.context == "A: C"


def test_sentences_come_with_the_next_one_and_lines_are_joined() -> None:
    found = passages("One is here.\nTwo is there. Three is gone.\n")

    assert [each.text for each in found] == ["One is here. Two is there.", "Two is there. Three is gone."]


def test_text_of_nothing_but_links_and_controls_is_no_passage() -> None:
    assert passages('[Home][1] | [Up][2]\n\n- [Next][3]\n\n[button "Save"][c1]\n') == ()


def test_code_is_kept_together() -> None:
    assert passages("```js\nlisten(3000)\n# no heading\n```\n") == (Passage(text="listen(3000) # no heading"),)


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("see [the docs][12] and **bold** `code`", "see the docs and bold code"),
        ('[button "Save" disabled][c3] now', "now"),
        ("snake_case_name and _emphasis_", "snake_case_name and emphasis"),
        (r"a\|b 2 * 3", "a|b 2 * 3"),
        ("[array[0]][7]", "array[0]"),
    ],
)
def test_plain(markdown: str, text: str) -> None:
    assert plain(markdown) == text


@pytest.mark.parametrize(
    ("text", "count"),
    [("It costs 3.5 euros. Pay it.", 2), ("Ports, e.g. Hull. Others too.", 2), ("开门。关门！为什么？", 3), ("", 0)],
)
def test_sentences(text: str, count: int) -> None:
    assert len(sentences(text)) == count


@given(st.text(alphabet="ab1 |-#*`:>.\n[]_\\。", max_size=200))
def test_any_text_can_be_cut_and_passages_are_bounded(markdown: str) -> None:
    assert all(0 < len(passage.text) <= 2 * MAX_CHARS for passage in passages(markdown))
