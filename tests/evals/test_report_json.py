"""The report for programs."""

from __future__ import annotations

import json

import pytest

from evals.report import report_json
from evals.runs import Conditions, Record
from tests.evals.hand_made import CONDITIONS, SIMULATED, failed, four, missed, off, record, spec


def test_it_holds_what_the_command_promises() -> None:
    report = report_json(four(), SIMULATED)
    mode = report["modes"]["spec"]
    assert report["suite"] == "hand-made"
    assert Conditions.parse(report["conditions"]) == SIMULATED
    assert report["caveats"] == list(SIMULATED.caveats())
    assert (mode["accuracy"], mode["hit1"], mode["hit3"]) == (1.0, 0.3333, 0.6667)
    assert (mode["hit"], mode["join"], mode["waste"], mode["bound_share"]) == (0.3333, 0.3333, 0.75, 0.7778)
    assert mode["exposed_s_per_iteration"] == {
        "mean": 1.9167,
        "median": 1.9167,
        "best_query": {"item": "a", "ratio": 2.4, "s": 0.8333, "off_s": 2.0},
    }
    assert (mode["end_to_end_s"], mode["same_trajectory"], mode["differing"]) == (11.75, True, [])
    assert mode["misses"] == {"not named": 1}
    assert mode["scores"]["by_kind_and_difficulty"] == {"single_source": {"easy": {"right": 2, "n": 2}}}
    assert (mode["scores"]["by_language"], mode["scores"]["by_domain"]) == ({"en": {"right": 2, "n": 2}}, {})


def test_each_mode_is_compared_with_off_and_with_the_published_way_of_counting() -> None:
    report = report_json(four(), CONDITIONS)
    versus, computed = report["compared"]["spec"], report["counterfactual"]["spec"]
    assert (versus["ratio"], versus["interval"], versus["n"]) == (1.3043, [1.0, 2.4], 2)
    assert versus["without_first_page"]["ratio"] == 1.4375
    assert (computed["ratio"], computed["named"], computed["measured"]["ratio"]) == (1.5625, 0.6667, 1.4118)
    assert set(report["compared"]) == {"spec"}


def test_a_run_that_is_half_way_says_what_it_leaves_out() -> None:
    report = report_json([off("a"), spec("a"), off("b"), failed("c", "off"), record("c", "spec", ())], CONDITIONS)
    assert report["questions"] == {
        "compared": 1,
        "left_out": {"not asked in spec": 1, "error in off": 1},
        "failed": {"off": 1},
        "modes_not_compared": [],
        "not_side_by_side": {},
    }
    assert report["compared"]["spec"]["interval"] is None


@pytest.mark.parametrize(
    "records",
    [
        [],
        [failed("a", "off"), failed("a", "spec")],
        [off("a")],
        [spec("b")],
        [record("a", "off", (), turns=0), record("a", "spec", (missed("visit /", 0.0),), total_seconds=0.0)],
    ],
    ids=["none", "all failed", "off alone", "without off", "no steps"],
)
def test_any_records_give_json_that_any_reader_takes(records: list[Record]) -> None:
    text = json.dumps(report_json(records, CONDITIONS), allow_nan=False)
    assert json.loads(text)["questions"]["compared"] == len({each.item for each in records if each.status != "error"})
