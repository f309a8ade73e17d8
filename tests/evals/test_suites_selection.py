from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.suites.errors import SelectionInvalid
from evals.suites.item import Item
from evals.suites.selection import select

SIZES = {
    ("single_source", "easy"): 2,
    ("single_source", "hard"): 30,
    ("multi_source", "easy"): 30,
    ("multi_source", "hard"): 8,
}
ITEMS = tuple(
    Item(
        id=f"{kind}-{difficulty}-{number}",
        question="?",
        answer="!",
        url=f"https://site-{number % 5}.example/",
        sources=("a",) * (1 if kind == "single_source" else 2 + number % 3),
        lang="zh" if number % 2 else "en",
        kind=kind,
        difficulty=difficulty,
        domain="game" if number % 3 else "Numerical | Tabular",
    )
    for (kind, difficulty), size in SIZES.items()
    for number in range(size)
)


def cells(items: tuple[Item, ...]) -> Counter[tuple[str, str]]:
    return Counter((item.kind, item.difficulty) for item in items)


def test_without_a_filter_all_are_chosen() -> None:
    assert select(ITEMS) == ITEMS


@pytest.mark.parametrize(
    ("filters", "fits"),
    [
        ({"langs": ["ZH"]}, lambda item: item.lang == "zh"),
        ({"kinds": ["multi_source"]}, lambda item: item.kind == "multi_source"),
        ({"difficulties": ["easy", "hard"], "langs": ["en"]}, lambda item: item.lang == "en"),
        ({"domains": ["tabular"]}, lambda item: "Tabular" in item.domain),
        ({"domains": ["game", "numerical"]}, lambda item: True),
        ({"ids": ["multi_source-hard-3"]}, lambda item: item.id == "multi_source-hard-3"),
        ({"min_sources": 3}, lambda item: len(item.sources) >= 3),
    ],
)
def test_filters_keep_what_fits_in_its_order(filters: dict[str, Any], fits: Any) -> None:
    assert select(ITEMS, **filters) == tuple(item for item in ITEMS if fits(item))


def test_a_sample_is_as_even_as_the_questions_allow() -> None:
    assert cells(select(ITEMS, limit=40)) == Counter(
        {
            ("single_source", "easy"): 2,
            ("single_source", "hard"): 15,
            ("multi_source", "easy"): 15,
            ("multi_source", "hard"): 8,
        }
    )


def test_a_sample_follows_its_seed() -> None:
    assert select(ITEMS, limit=9, seed=3) == select(ITEMS, limit=9, seed=3)
    assert len({select(ITEMS, limit=9, seed=seed) for seed in range(5)}) == 5
    spare = {cell for seed in range(9) for cell in cells(select(ITEMS, limit=1, seed=seed))}
    assert len(spare) > 1


@given(st.integers(1, 80), st.integers(1, 80), st.integers())
def test_a_larger_limit_only_adds(few: int, more: int, seed: int) -> None:
    few, more = sorted((few, more))
    smaller, larger = select(ITEMS, limit=few, seed=seed), select(ITEMS, limit=more, seed=seed)
    assert len(smaller) == min(few, len(ITEMS))
    assert set(smaller) <= set(larger)
    assert [item for item in ITEMS if item in set(larger)] == list(larger)
    of = cells(larger)
    most = max(of.values())
    assert all(count >= most - 1 or count == SIZES[cell] for cell, count in of.items())


def test_one_question_for_each_site_is_drawn() -> None:
    drawn = select(ITEMS, one_per_site=True)
    assert sorted(item.url for item in drawn) == sorted({item.url for item in ITEMS})
    assert len({select(ITEMS, one_per_site=True, seed=seed) for seed in range(5)}) == 5
    assert set(select(ITEMS, one_per_site=True, limit=3)) < set(drawn)


@pytest.mark.parametrize(
    ("filters", "message", "hint"),
    [
        ({"langs": ["de"]}, "no question has the language 'de'", "Use one of en, zh."),
        ({"domains": ["games"]}, "no question has the domain 'games'", "Use one of Numerical, Tabular, game."),
        ({"ids": ["multi_source-hard-77"]}, "no question has the id 'multi_source-hard-77'", "or of many others."),
        ({"ids": ["?"]}, "no question has the id '?'", "or of many others."),
        ({"min_sources": 5}, "no question has 5 sources or more", "The most there are is 4."),
        ({"limit": 0}, "a limit of 0 leaves no question", "Give a limit of 1 or more."),
        (
            {"kinds": ["single_source"], "ids": ["multi_source-hard-3"]},
            "no question is left with the id multi_source-hard-3: those that have it were filtered out before",
            "Take a filter away.",
        ),
    ],
)
def test_what_leaves_nothing_is_said(filters: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(SelectionInvalid) as caught:
        select(ITEMS, **filters)
    assert str(caught.value) == message
    assert caught.value.hint.endswith(hint)


def test_what_the_suite_does_not_tell_cannot_be_asked_for() -> None:
    bare = (replace(ITEMS[0], difficulty="", url=""),)
    with pytest.raises(SelectionInvalid, match="this suite tells none"):
        select(bare, difficulties=["easy"])
    with pytest.raises(SelectionInvalid, match="begin with a search"):
        select(bare, one_per_site=True)
