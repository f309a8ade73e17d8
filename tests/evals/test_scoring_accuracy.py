"""Accuracy in each mode and group, with intervals, and what is unknown said to be unknown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.runs import Record, Scores
from evals.scoring import ModeAccuracy, Proportion, accuracy_table

RIGHT, WRONG = Scores(contains=True, f1=0.5, supported=True, right_page=True), Scores(judged=False, right_page=False)


def record(item: str, *, mode: str = "off", **fields: object) -> Record:
    given_fields = {"suite": "s", "question": "?", "expected": "x", "status": "answered", "answer": "y", **fields}
    return Record(item=item, mode=mode, **given_fields)  # type: ignore[arg-type]


def accuracy(*records: Record) -> ModeAccuracy:
    return accuracy_table(records)["off"]


def test_wilson_intervals_are_those_of_the_book() -> None:
    # From the formula by hand, and as statsmodels' proportion_confint(method="wilson") gives them.
    for count, n, low, high in (
        (0, 10, 0.0, 0.2775),
        (5, 10, 0.2366, 0.7634),
        (10, 10, 0.7225, 1.0),
        (81, 263, 0.2553, 0.3662),
    ):
        proportion = Proportion.of([True] * count + [False] * (n - count))
        assert (proportion.count, proportion.n, proportion.share) == (count, n, count / n)
        assert (proportion.low, proportion.high) == pytest.approx((low, high), abs=5e-5)
    assert Proportion.of([]) == Proportion(count=0, n=0, share=None, low=0.0, high=1.0)


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_a_share_lies_in_its_interval(told: list[bool]) -> None:
    proportion = Proportion.of(told)
    assert proportion.share is not None
    assert 0 <= proportion.low <= proportion.share + 1e-12
    assert proportion.share <= proportion.high + 1e-12 <= 1 + 1e-9


def test_every_mode_is_counted_by_itself_in_the_order_it_comes() -> None:
    table = accuracy_table(
        [record("1", mode="spec", scores=RIGHT), record("1", scores=WRONG), record("2", scores=RIGHT)]
    )
    assert list(table) == ["spec", "off"]
    assert (table["spec"].overall.count, table["spec"].overall.n) == (1, 1)
    assert (table["off"].overall.count, table["off"].overall.n) == (1, 2)
    assert accuracy_table([]) == {}


def test_groups_hold_the_questions_they_are_named_for() -> None:
    counted = accuracy(
        record("1", scores=RIGHT, kind="single_source", difficulty="easy", lang="en", domain="game"),
        record("2", scores=WRONG, kind="single_source", difficulty="hard", lang="zh", domain="game"),
        record("3", scores=RIGHT, kind="multi_source", difficulty="hard", lang="zh"),
        record("4", scores=RIGHT, kind="Temporal reasoning | Numerical reasoning", lang="", domain="game | law"),
    )

    def plain(groups: object) -> object:
        return (
            f"{groups.count}/{groups.n}"
            if isinstance(groups, Proportion)
            else {
                name: plain(group)
                for name, group in dict(groups).items()  # type: ignore[call-overload]
            }
        )

    assert plain(counted.by_kind_and_difficulty) == {
        "Numerical reasoning": {"": "1/1"},
        "Temporal reasoning": {"": "1/1"},
        "multi_source": {"hard": "1/1"},
        "single_source": {"easy": "1/1", "hard": "0/1"},
    }
    assert plain(counted.by_kind) == {
        "Numerical reasoning": "1/1",
        "Temporal reasoning": "1/1",
        "multi_source": "1/1",
        "single_source": "1/2",
    }
    assert plain(counted.by_difficulty) == {"easy": "1/1", "hard": "1/2"}
    assert plain(counted.by_lang) == {"en": "1/1", "zh": "1/2"}
    assert plain(counted.by_domain) == {"game": "2/3", "law": "1/1"}
    assert plain(counted.overall) == "3/4"


def test_what_is_not_known_counts_nowhere() -> None:
    counted = accuracy(
        record("1", scores=Scores(exact=True, contains=True, f1=1.0), cost_dollars=0.02),
        record("2", scores=Scores(judged=True, supported=True, right_page=True), cost_dollars=None),
        record(
            "3", status="limit", answer="", reason="no turns left", scores=Scores(right_page=False), cost_dollars=0.04
        ),
        record("4", scores=Scores(contains=True), cost_dollars=0.0),
    )
    assert counted.right_page == Proportion.of([True, False])
    assert counted.supported == Proportion.of([True, False, False]), "an answer that was not given needs no support"
    assert counted.unjudged == 1, "an exact one needs no judge, an empty one neither"
    assert counted.cost.mean_dollars == pytest.approx(0.02)
    assert counted.cost.unknown == 1
    assert accuracy(record("2")).cost.mean_dollars is None
    assert counted.statuses == {"answered": 3, "limit": 1}
    assert counted.mean_f1 == 0.25
    assert (counted.exact.count, counted.contains.count, counted.overall.count) == (1, 2, 3)


def test_turns_and_tokens_are_means_over_all_questions() -> None:
    counted = accuracy(
        record("1", turns=2, tokens={"target_in": 100, "target_out": 10}),
        record("2", turns=5, tokens={"target_in": 300, "target_out": 30, "draft_in": 50}),
    )
    assert counted.mean_turns == 3.5
    assert counted.mean_tokens == {"draft_in": 25.0, "target_in": 200.0, "target_out": 20.0}
