"""What comes after what, learned from the calls: the arguments are found where they were found before."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from speccache import CallPatterns, Step, ToolCall

Run = Sequence[Step[ToolCall, Any]]


def step(name: str, returned: Any = None, /, **arguments: Any) -> Step[ToolCall, Any]:
    return Step(ToolCall(name, arguments), returned)


def learned(*runs: Run) -> CallPatterns:
    patterns = CallPatterns()
    for run in runs:
        for end in range(1, len(run) + 1):
            patterns.learn(run[:end])
    return patterns


def named(patterns: CallPatterns, *run: Step[ToolCall, Any]) -> list[str]:
    return [str(call) for call in patterns(run)]


def user(number: int) -> list[Step[ToolCall, Any]]:
    orders = [{"id": number * 10 + place * 3} for place in range(3)]
    return [step("get_user", {"id": number}, id=number), step("get_orders", {"orders": orders}, user=number)]


def test_nothing_is_known_at_first() -> None:
    assert named(CallPatterns(), *user(7)) == []


def test_an_argument_of_the_call_before_is_passed_on() -> None:
    run = [step("get_user", "a text", id=7), step("get_orders", None, user=7)]
    assert named(learned(run), step("get_user", "a text", id=8)) == ["get_orders(user=8)"]


@pytest.mark.parametrize("written", [lambda value: value, json.dumps], ids=["value", "JSON"])
def test_a_value_of_a_result_is_passed_on(written: Any) -> None:
    run = [step("find", written({"hit": {"id": "a"}}), q="x"), step("open", None, id="a")]
    assert named(learned(run), step("find", written({"hit": {"id": "b"}}), q="y")) == ["open(id='b')"]


def test_a_list_is_worked_through() -> None:
    run = [*user(7), step("get_order", None, id=70), step("get_order", None, id=73)]
    patterns = learned(run)
    assert named(patterns, *user(8)) == ["get_order(id=80)"]
    assert named(patterns, *user(8), step("get_order", None, id=80)) == ["get_order(id=83)"]
    assert named(patterns, *user(8), step("get_order", None, id=86)) == []


def test_pages_are_counted_up() -> None:
    run = [step("search", "text", q="tram", page=1), step("search", "text", q="tram", page=2)]
    assert named(learned(run), step("search", "text", q="bus", page=5)) == ["search(page=6, q='bus')"]


def test_what_never_changes_is_repeated() -> None:
    runs = [[step("log_in", None, name=name), step("list_all", None, kind="open")] for name in ("ann", "bob")]
    assert named(learned(*runs), step("log_in", None, name="eve")) == ["list_all(kind='open')"]


def test_two_runs_tell_a_chance_from_a_rule() -> None:
    first = [step("get_user", {"id": 7, "group": 7}, id=7), step("get_group", None, group=7)]
    second = [step("get_user", {"id": 8, "group": 3}, id=8), step("get_group", None, group=3)]
    assert named(learned(first), step("get_user", {"id": 1, "group": 2}, id=1)) == ["get_group(group=1)"]
    assert named(learned(first, second), step("get_user", {"id": 1, "group": 2}, id=1)) == ["get_group(group=2)"]


def test_the_likelier_call_comes_first() -> None:
    runs = [[step("a"), step(then)] for then in ("b", "c", "c")]
    assert named(learned(*runs), step("a")) == ["c()", "b()"]


def test_two_calls_back_tell_more_than_one() -> None:
    runs = [[step("x"), step("a"), step("b")], [step("y"), step("a"), step("c")], [step("y"), step("a"), step("c")]]
    assert named(learned(*runs), step("x"), step("a")) == ["b()", "c()"]


def test_what_is_found_nowhere_is_not_named() -> None:
    run = [step("find", {"hits": ["a"]}, q="x"), step("open", None, id="a")]
    run_too = [step("find", {"hits": ["b"]}, q="x"), step("open", None, id="b")]
    assert named(learned(run, run_too), step("find", {"hits": []}, q="y")) == []
    assert named(learned([step("a"), step("b", None, thing=object())]), step("a")) == []


def test_it_does_not_grow_without_end() -> None:
    patterns = learned(*([step("find", None, q="x"), step("open", None, id=f"{number}")] for number in range(1_000)))
    assert max(map(len, patterns._sources.values())) <= 400
    strange = [
        [step("find", {"n": number}), step("open", None, **{f"a{number}": "x" * 9_000})] for number in range(2_000)
    ]
    patterns = learned(*strange)
    assert len(patterns._next[("find",)]) <= 100
    assert len(patterns._sources) <= 1_000
    assert len(patterns._read) <= 24
    assert not +Counter(source for counts in patterns._sources.values() for source in counts)


def test_what_it_has_seen_most_often_stays() -> None:
    often = [[step("find"), step("open", None, id="a")]] * 5
    seldom = [[step("find"), step("open", None, **{f"a{number}": 1})] for number in range(500)]
    assert named(learned(*often, *seldom), step("find"))[0] == "open(id='a')"


def test_a_result_is_looked_into_by_no_code_of_its_own() -> None:
    class Counted(dict[str, Any]):
        def items(self) -> Any:
            raise OSError("never asked")

    patterns = CallPatterns()
    run = [step("find", Counted(id="a")), step("open", None, id="a")]
    patterns.learn(run)
    assert [read.columns for read in patterns._read.values() if read.result is run[0].observation] == [{".id": ['"a"']}]
    assert named(patterns, step("find", Counted(id="b"))) == ["open(id='b')"]
