from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.predictors.words import coverage, is_wide, kinship, precision, url_words, weights, words


def test_plural_and_case_do_not_matter_and_stop_words_do_not_count() -> None:
    assert words("The Limits of a TABLE") == words("limit tables")


def test_identifier_counts_whole_and_in_its_parts() -> None:
    assert words("wal_sender_timeout") == {"wal_sender_timeout", "wal", "sender", "timeout"}


def test_wide_text_counts_in_pairs() -> None:
    assert words("图书馆几点开门") >= {"图书", "书馆", "开门"}


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://site.test/docs/runtime-config.html", "docs runtime config"),
        ("http://site.test/#/Guides/PrototypePoisoning?id=x", "Guides Prototype Poisoning"),
        ("http://site.test/%E5%9B%BE", "图"),
        ("http://site.test", ""),
    ],
)
def test_url_words(url: str, expected: str) -> None:
    assert url_words(url) == expected


def test_a_rare_word_covers_more_than_a_common_one() -> None:
    texts = ["table limits", "table size", "table name", "deadlocks"]

    weighed = weights("table limits", texts)

    assert weighed["limit"] > weighed["tabl"]
    assert coverage("table limits", weighed) == pytest.approx(1.0)
    assert coverage("deadlocks", weighed) == 0.0


def test_a_question_of_stop_words_weighs_nothing() -> None:
    assert weights("what is it", ["a text"]) == {}


def test_a_name_that_is_mentioned_whole_is_precise_and_an_empty_one_is_not() -> None:
    assert precision("Press Office", "Who heads the press office, and who the library?") == 1.0
    assert precision("Press Office Moves", "Who heads the press office?") == pytest.approx(2 / 3)
    assert precision("", "Who?") == 0.0


def test_a_label_is_kin_to_the_words_that_build_on_it() -> None:
    assert kinship("Director", "Who directed the film?") == 1.0
    assert kinship("First conductor", "Who first conducted the orchestra?") == 1.0
    assert kinship("First conductor", "Who was the first?") == pytest.approx(1 / 2)
    assert kinship("Port", "Who is portrayed?") == 0.0
    assert kinship("", "Who?") == 0.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("图书馆几点开门？", True),
        ("auth_delay 模块的默认值是多少？", True),
        ("Who teaches 《劳动法》 at the School of Law?", False),
        ("When does the library open?", False),
        ("", False),
    ],
)
def test_is_wide(text: str, expected: bool) -> None:
    assert is_wide(text) is expected


@given(st.text(), st.lists(st.text(), max_size=5))
def test_coverage_is_a_share(question: str, texts: list[str]) -> None:
    weighed = weights(question, texts)

    assert all(0.0 <= coverage(text, weighed) <= 1.0 + 1e-9 for text in [question, *texts])
