"""What of a run is kept: its tokens, and where its trace lies."""

from __future__ import annotations

import pytest

from agent.events import Call, CallKind
from agent.models.call_account import CallAccount
from agent.target import Usage
from evals.runs.asking import tokens_of, trace_name


def call(kind: CallKind, role: str, *, tokens: int) -> Call:
    usage = Usage(input_tokens=tokens, output_tokens=1) if tokens else None
    return Call(at_seconds=0.0, kind=kind, role=role, model="small", usage=usage)


def test_tokens_of_requests_that_were_given_up_are_counted_too() -> None:
    account = CallAccount()
    for each in (
        call(CallKind.REPLY, "target", tokens=100),
        call(CallKind.DROP, "target", tokens=90),
        call(CallKind.FAIL, "target", tokens=0),
        call(CallKind.DROP, "draft", tokens=7),
        call(CallKind.REPLY, "judge", tokens=50),
    ):
        account(each)
    assert tokens_of(account) == {"target_in": 190, "target_out": 2, "draft_in": 7, "draft_out": 1}
    assert tokens_of(CallAccount()) == {"target_in": 0, "target_out": 0, "draft_in": 0, "draft_out": 0}


def test_a_trace_is_named_after_its_question() -> None:
    assert trace_name("frames-12", "spec") == "frames-12-spec.jsonl"
    assert trace_name("哪年", "off") == "哪年-off.jsonl"


def test_no_two_questions_have_the_same_trace() -> None:
    ids = ["a-b", "a/b", "a b", "a?b", "../a-b", "x" * 300, "x" * 301, "年" * 300, "a-b\ud800"]
    names = {trace_name(each, mode) for each in ids for mode in ("off", "spec")}
    assert len(names) == 2 * len(ids)
    assert all(len(name.encode()) < 255 and "/" not in name for name in names)
    assert trace_name("a/b", "off").startswith("a-b~")


@pytest.mark.parametrize("item", ["a/b", "x" * 300])
def test_the_name_of_a_trace_is_as_good_an_id_as_any(item: str) -> None:
    stem = trace_name(item, "off").removesuffix("-off.jsonl")
    assert trace_name(stem, "off") != trace_name(item, "off")
