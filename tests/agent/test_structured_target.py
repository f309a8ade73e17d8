"""Answers by a schema: validated, asked for again with what was wrong, or an error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.errors import ConfigurationError
from agent.target import Answer
from agent.targets.model_target import ModelTarget
from agent.targets.structured_target import StructuredTarget, load_schema
from browser.action import Back
from tests.agent.pages import SITE, page, walk
from tests.endpoints.connected import connected
from tests.endpoints.scripted import Call, Say, Scripted, ScriptedEndpoint

SCHEMA = {
    "type": "object",
    "properties": {"year": {"type": "integer"}},
    "required": ["year"],
    "additionalProperties": False,
}
PAGES = walk(page("/a", text="Ada was born in 1815."), page("/b"))
ANSWER = Say(calls=[Call("answer", json.dumps({"answer": "in 1815", "sources": [SITE + "/a"]}))])


async def shaped(*replies: Scripted) -> tuple[object, int, list[str]]:
    async with ScriptedEndpoint([ANSWER, *replies]) as endpoint, connected(endpoint) as model:
        target = StructuredTarget(ModelTarget(model), model, SCHEMA, window_tokens=8_000)
        decision = await target.decide("When?", PAGES)
        prompts = [request.body["messages"][1]["content"] for request in endpoint.requests]
    assert isinstance(decision.action, Answer)
    assert (decision.action.text, decision.action.sources) == ("in 1815", (SITE + "/a",))
    return decision.action.data, decision.calls, prompts


async def test_the_answer_comes_as_data_too() -> None:
    data, calls, prompts = await shaped(Say(calls=[Call("record", '{"year": 1815}')]))
    assert (data, calls) == ({"year": 1815}, 2)
    assert "Ada was born in 1815." in prompts[1], "the page the answer rests on is shown"


async def test_data_in_the_words_of_a_reply_will_do() -> None:
    assert (await shaped(Say('Here: {"year": 1815}')))[0] == {"year": 1815}


async def test_what_breaks_the_schema_is_asked_for_again() -> None:
    data, calls, prompts = await shaped(Say('{"year": "1815"}'), Say("What?"), Say('{"year": 1815}'))
    assert (data, calls) == ({"year": 1815}, 4)
    assert "'1815' is not of type 'integer'" in prompts[2]
    assert "it holds no JSON object" in prompts[3]


async def test_a_model_that_cannot_keep_it_costs_the_shape_and_not_the_answer() -> None:
    async with ScriptedEndpoint([ANSWER, *[Say('{"year": "1815"}')] * 3]) as endpoint, connected(endpoint) as model:
        target = StructuredTarget(ModelTarget(model), model, SCHEMA, window_tokens=8_000)
        answer = (await target.decide("When?", PAGES)).action
    assert isinstance(answer, Answer)
    assert (answer.text, answer.data) == ("in 1815", None)
    assert "could not put the answer into the schema's shape: '1815' is not of type 'integer'" in answer.fault


async def test_other_decisions_and_empty_answers_pass_through() -> None:
    script = [Say(calls=[Call("back", "{}")]), Say(calls=[Call("answer", '{"answer": "", "sources": []}')])]
    async with ScriptedEndpoint(script) as endpoint, connected(endpoint) as model:
        target = StructuredTarget(ModelTarget(model), model, SCHEMA, window_tokens=8_000)
        assert (await target.decide("When?", PAGES)).action == Back()
        assert (await target.conclude("When?", PAGES)).action == Answer(text="")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "cannot be read"),
        ("{", "is no JSON"),
        ('{"type": "strange"}', "is no JSON schema"),
        ('{"type": "array"}', "describes no object"),
        ("[]", "no JSON schema|describes no object"),
        ('{"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}}', "refers to #?/nowhere"),
        ('{"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/a"}}}', "refers to http"),
    ],
)
def test_a_file_that_is_no_schema_is_told_of(tmp_path: Path, content: str | None, says: str) -> None:
    file = tmp_path / "schema.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigurationError, match=says) as error:
        load_schema(file)
    assert error.value.hint
