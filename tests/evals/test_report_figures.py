"""Figures of records, against what a person works out from them."""

from __future__ import annotations

import random

import pytest

from evals.report import figures
from evals.report.counterfactual import counterfactual
from evals.report.figures import KEPT
from evals.report.paired import pair, ratio_of_means
from evals.runs import PageStep
from tests.evals.hand_made import failed, four, missed, off, record, spec


def test_what_speculation_made_of_the_steps() -> None:
    mode = figures(four()).modes["spec"]
    assert (mode.questions, mode.guessable, mode.turns) == (2, 3, 2.5)
    assert (mode.hit, mode.join, mode.miss) == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert (mode.hit1, mode.hit3, mode.served) == pytest.approx((1 / 3, 2 / 3, 2 / 3))
    assert (mode.served_by, mode.missed) == ({"rank": 1, "draft": 1}, {"not named": 1})
    assert (mode.speculated, mode.wasted, mode.waste, mode.wasted_bytes) == (8, 6, 0.75, 4000)
    assert mode.refused == {"off-site": 3, "over-cap": 1}


def test_how_long_pages_were_waited_for() -> None:
    found = figures(four())
    assert found.modes["off"].exposed_seconds == (2.0, 3.0)  # six seconds in three turns, and in two
    assert found.modes["spec"].exposed_seconds == pytest.approx((2.5 / 3, 3.0))
    assert found.modes["spec"].later_seconds == pytest.approx((0.5 / 3, 2.5))
    assert found.modes["spec"].bound_share == pytest.approx((5.5 + 5.0) / (5.5 + 8.0))
    assert found.modes["off"].bound_share is None


def test_how_many_times_less_than_off() -> None:
    versus = figures(four()).compared["spec"]
    assert versus.exposed.ratio == pytest.approx(2.5 / (2.5 / 3 + 3.0) * 2)
    # Of two pairs three mixtures can be drawn: a alone (2.4), b alone (1), and both; one in four is either extreme.
    assert versus.exposed.interval == pytest.approx((1.0, 2.4))
    assert versus.later.ratio == pytest.approx((4 / 3 + 5 / 2) / (0.5 / 3 + 2.5))
    assert versus.total.ratio == pytest.approx((15.0 + 12.0) / (11.5 + 12.0))
    assert (versus.best_item, versus.best_ratio) == ("a", pytest.approx(2.4))
    assert versus.differing == ()


def test_the_published_way_of_counting_stands_beside_the_measured_one() -> None:
    found = figures(four())
    computed = found.counterfactual["spec"]
    assert (computed.all_seconds, computed.rest_seconds) == ((6.5 + 6.0) / 2, (2.0 + 6.0) / 2)
    assert (computed.speedup.ratio, computed.named) == pytest.approx((6.25 / 4, 2 / 3))
    assert found.measured["spec"].ratio == pytest.approx((6.0 + 6.0) / (2.5 + 6.0))
    assert "off" not in found.counterfactual


def test_a_page_named_but_not_loaded_is_free_in_the_published_way_alone() -> None:
    steps = (missed("visit /0", 1.0), missed("visit /1", 3.0, named=True, why_missed="refused"))
    assert counterfactual([record("a", "spec", steps)]).speedup.ratio == 4.0
    assert figures([record("a", "spec", steps)]).modes["spec"].miss == 1.0


def test_what_cannot_be_run_ahead_is_not_counted_as_a_miss() -> None:
    typed = PageStep(action="type", kind="direct", load_seconds=0.5, waited_seconds=0.5)
    kept = PageStep(action="visit /0", kind="hit", load_seconds=0.0, waited_seconds=0.0)
    mode = figures([record("a", "lru", (missed("visit /0", 1.0), typed, kept))]).modes["lru"]
    assert (mode.guessable, mode.hit, mode.served_by, mode.waste) == (1, 1.0, {KEPT: 1}, None)


def test_costs_are_summed_where_all_are_known() -> None:
    mode = figures(four()).modes["spec"]
    assert mode.cost_dollars == 0.75
    assert mode.tokens == {"target_in": 160, "draft_in": 20, "target_out": 16, "draft_out": 2}
    assert (mode.tokens_a_question("in"), mode.tokens_a_question("out")) == (90, 9)
    assert figures([spec("a"), spec("b", cost_dollars=None)]).modes["spec"].cost_dollars is None


def test_another_answer_or_action_is_another_trajectory() -> None:
    changed = [off("a"), spec("a", answer="43"), off("b"), spec("b")]
    assert figures(changed).compared["spec"].differing == ("a",)


def test_only_questions_that_every_mode_has_are_compared() -> None:
    half = record("c", "off", ())
    harness_broke = record("e", "spec", (), broken="the browser is gone")
    runs = [*four(), half, failed("d", "off"), record("d", "spec", ()), record("e", "off", ()), harness_broke]
    found = pair(runs)
    assert found.items == ("a", "b")
    assert found.left_out == {"c": "not asked in spec", "d": "error in off", "e": "error in spec"}
    assert found.reasons == {"not asked in spec": 1, "error in off": 1, "error in spec": 1}
    assert found.failed == {"off": 1, "spec": 1}


def test_a_mode_that_failed_everywhere_does_not_take_the_others_with_it() -> None:
    found = figures([*four(), failed("a", "draft"), failed("b", "draft")])
    assert list(found.modes) == ["off", "spec"]
    assert (found.pairing.items, found.pairing.unusable) == (("a", "b"), ("draft",))


def test_the_last_of_two_runs_of_a_question_counts() -> None:
    found = figures([failed("a", "spec"), off("a"), spec("a")])
    assert (found.pairing.items, found.pairing.failed) == (("a",), {})


def test_modes_stand_in_one_order() -> None:
    runs = [record("a", mode, (missed("visit /", 1.0),)) for mode in ("mine", "oracle", "spec", "rank", "off")]
    found = figures(runs)
    assert list(found.modes) == ["off", "rank", "spec", "oracle", "mine"]
    assert found.main is found.modes["spec"]


@pytest.mark.parametrize("records", [[], [failed("a", "off"), failed("a", "spec")], [off("a"), spec("b")]])
def test_nothing_to_compare_gives_no_figures(records: list[object]) -> None:
    found = figures(records)  # type: ignore[arg-type]
    assert (found.modes, found.compared, found.counterfactual, found.main) == ({}, {}, {}, None)


def test_without_off_there_are_figures_but_no_comparison() -> None:
    found = figures([spec("a"), spec("b")])
    assert (list(found.modes), found.compared, found.measured) == (["spec"], {}, {})
    assert list(found.counterfactual) == ["spec"]


def test_one_pair_has_a_ratio_and_no_interval() -> None:
    found = ratio_of_means([6.0], [2.5])
    assert (found.ratio, found.interval, found.n, str(found)) == (2.4, None, 1, "2.40")


def test_a_wait_of_nothing_leaves_a_finite_ratio() -> None:
    assert ratio_of_means([2.0, 2.0], [0.0, 0.0]).ratio == pytest.approx(2000)
    assert ratio_of_means([0.0, 0.0], [0.0, 0.0]).ratio == 1.0
    with pytest.raises(ValueError, match="no pairs"):
        ratio_of_means([], [])


def test_the_interval_holds_the_ratio_and_narrows_with_more_pairs() -> None:
    drawn = random.Random(1)
    pairs = [(drawn.uniform(3, 9), drawn.uniform(1, 3)) for _ in range(400)]
    few, many = (ratio_of_means([one for one, _ in part], [other for _, other in part]) for part in (pairs[:20], pairs))
    assert few.interval is not None
    assert many.interval is not None
    assert many.interval[0] < many.ratio < many.interval[1]
    assert many.interval[1] - many.interval[0] < few.interval[1] - few.interval[0]
