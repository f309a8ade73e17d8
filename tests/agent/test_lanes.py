"""A run as lanes of bars."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from agent.timeline.bars import Bar, Lane, brief
from agent.timeline.lanes import lanes_of
from agent.timeline.trace_reader import read_trace
from tests.agent.traces import HEADING, Line, cache, decided, example, thinking, write


def lanes(tmp_path: Path, lines: list[Line]) -> dict[str, Lane]:
    return {lane.name: lane for lane in lanes_of(read_trace(write(tmp_path / "run.jsonl", lines))[0])}


def spans(lane: Lane) -> list[tuple[str, float, float]]:
    return [(bar.kind, bar.start_seconds, bar.end_seconds) for bar in lane.bars]


def test_every_lane_and_every_bar(tmp_path: Path) -> None:
    found = lanes(tmp_path, example())
    assert {name: spans(lane) for name, lane in found.items()} == {
        "target": [("think", 2.0, 4.0), ("think", 5.0, 7.0), ("think", 7.5, 9.5), ("finish", 10.0, 10.0)],
        "draft requests": [("request", 2.1, 3.0)],
        "draft:small": [("predict", 2.0, 3.0), ("refused", 2.6, 2.6)],
        "rank": [("predict", 2.0, 2.2)],
        "foreground": [("miss", 0.0, 2.0), ("join", 4.0, 5.0), ("hit", 7.0, 7.0)],
        "ahead 1": [("hidden", 2.1, 5.0), ("hidden", 5.1, 6.2)],
        "ahead 2": [("unused", 2.5, 5.5), ("dropped", 5.6, 7.1)],
    }
    used, dropped = found["ahead 1"].bars[0], found["ahead 2"].bars[1]
    assert (used.label, used.turn, used.facts["used"], used.facts["size"]) == ("a", 1, "in turn 1, join", "2 kB")
    assert (dropped.facts["why"], dropped.facts["used"]) == ("implausible", "never")
    assert found["foreground"].bars[1].facts["the load took"] == "2.90 s"


def test_bars_of_a_lane_do_not_overlap(tmp_path: Path) -> None:
    lines = [HEADING, thinking(0.0, turn=1)]
    lines += [cache("launch", at / 10, f"{at}", turn=1) for at in range(9)]
    lines += [cache("load", 0.95 + at / 7, f"{at}", turn=1) for at in range(9)]
    ahead = [lane for name, lane in lanes(tmp_path, lines).items() if name.startswith("ahead")]
    assert sum(len(lane.bars) for lane in ahead) == 9
    for lane in ahead:
        assert all(bar.end_seconds <= after.start_seconds for bar, after in pairwise(lane.bars))


def test_a_prediction_that_is_stopped_ends_as_the_next_one_begins(tmp_path: Path) -> None:
    lines = [HEADING, cache("predict", 1.5, "", turn=1, predictor="p", seconds=1.0)]
    lines += [cache("predict", 2.0, "", turn=2, predictor="p", seconds=0.6)]
    assert spans(lanes(tmp_path, lines)["p"]) == [("predict", 0.5, 1.4), ("predict", 1.4, 2.0)]


@pytest.mark.parametrize(
    ("end", "kind"),
    [("load", "unused"), ("fail", "dropped"), ("refuse", "dropped"), ("cancel", "dropped"), ("later", "unused")],
)
def test_how_a_load_ends(tmp_path: Path, end: str, kind: str) -> None:
    lines = [HEADING, cache("launch", 1.0, "a", turn=1), cache(end, 3.0, "a", turn=1, reason="because")]
    assert spans(lanes(tmp_path, lines)["ahead 1"]) == [(kind, 1.0, 3.0)]


def test_what_crashed_lasts_to_the_end(tmp_path: Path) -> None:
    lines = [HEADING, thinking(1.0, turn=1), cache("launch", 2.0, "a", turn=1), cache("known", 4.0, "b", turn=1)]
    found = lanes(tmp_path, lines)
    assert spans(found["target"]) == [("think", 1.0, 4.0)]
    assert found["target"].bars[0].label == "unfinished"
    assert spans(found["ahead 1"]) == [("unused", 2.0, 4.0)]
    waiting = lanes(tmp_path, [HEADING, decided(1.0, "visit 1", turn=1, seconds=1.0), thinking(3.0, turn=9)][:2])
    assert spans(waiting["foreground"]) == [("wait", 1.0, 1.0)]


def test_what_is_not_known_is_shown_too(tmp_path: Path) -> None:
    lines = [HEADING, {"event": "hedged", "at_s": 3.0, "seconds": 2.0, "model": "large", "deep": {"a": [1]}}]
    (bar,) = lanes(tmp_path, lines)["other"].bars
    assert (bar.label, bar.start_seconds, bar.end_seconds) == ("hedged", 1.0, 3.0)
    assert bar.facts == {"seconds": "2.0", "model": "large", "deep": "{'a': [1]}"}


def test_a_page_used_twice_hides_only_its_own_load(tmp_path: Path) -> None:
    lines = [HEADING, cache("launch", 1.0, "a", turn=1), cache("load", 2.0, "a", turn=1)]
    lines += [cache("hit", 3.0, "a", turn=1), cache("hit", 4.0, "a", turn=2), cache("launch", 5.0, "a", turn=3)]
    assert [bar.kind for bar in lanes(tmp_path, lines)["ahead 1"].bars] == ["hidden", "unused"]


def test_facts_are_cut(tmp_path: Path) -> None:
    lines = [HEADING, thinking(0.0, turn=1), decided(1.0, "visit " + "x" * 999, turn=1, seconds=1.0)]
    bar: Bar = lanes(tmp_path, lines)["target"].bars[0]
    assert (len(bar.label), len(bar.facts["decided"])) == (60, 400)


@pytest.mark.parametrize(
    ("action", "short"),
    [
        ("visit https://a.test/one/two.html?x=1", "two.html"),
        ("visit https://a.test/one/", "one"),
        ("visit https://a.test", "a.test"),
        ("visit https://[bad", "https://[bad"),
        ("visit 12", "visit 12"),
        ("", ""),
    ],
)
def test_an_action_in_brief(action: str, short: str) -> None:
    assert brief(action) == short
