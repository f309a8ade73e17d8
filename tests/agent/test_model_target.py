"""A model as the target: one request a decision, a second chance, and honest sources."""

from __future__ import annotations

import pytest

from agent.errors import ModelRefused, ModelUnreadable
from agent.target import Answer, Usage
from agent.targets.model_target import ModelTarget
from agent.targets.tools import READING_TOOLS, TOOLS
from browser.action import Back, Click, Visit
from tests.agent.pages import SITE, page, walk
from tests.endpoints.connected import connected
from tests.endpoints.scripted import Call, Fail, Say, ScriptedEndpoint

TRAJECTORY = walk(page("/a", links=3), page("/b"))


async def test_a_tool_call_is_the_decision() -> None:
    script = [Say("It is there.", calls=[Call("visit", '{"target": "2"}')])]
    async with ScriptedEndpoint(script) as endpoint, connected(endpoint) as model:
        target = ModelTarget(model)
        decision = await target.decide("Who?", TRAJECTORY)
    assert target.name == "scripted"
    assert decision.action == Visit("2")
    assert decision.thought == "It is there."
    assert decision.usage.output_tokens == 1
    offered = [tool["function"]["name"] for tool in endpoint.requests[0].body["tools"]]
    assert offered == [tool.name for tool in READING_TOOLS]


async def test_a_model_acts_only_where_it_may() -> None:
    click = Say("", calls=[Call("click", '{"reference": "c1"}')])
    async with ScriptedEndpoint([click, Say('{"tool": "back"}'), click]) as endpoint, connected(endpoint) as model:
        reader = await ModelTarget(model).decide("Who?", TRAJECTORY)
        actor = await ModelTarget(model, acting=True).decide("Who?", TRAJECTORY)
        bodies = [request.body for request in endpoint.requests]
    assert reader.action == Back()
    assert "is not among the tools" in bodies[1]["messages"][-1]["content"]
    assert actor.action == Click("c1")
    assert [tool["function"]["name"] for tool in bodies[2]["tools"]] == [tool.name for tool in TOOLS]


async def test_an_endpoint_without_tools_decides_in_text() -> None:
    script = [Say('{"tool": "back"}'), Say("Final Answer: 42")]
    async with ScriptedEndpoint(script, refuses=["tools"]) as endpoint, connected(endpoint) as model:
        target = ModelTarget(model)
        assert (await target.decide("Who?", TRAJECTORY)).action == Back()
        assert (await target.decide("Who?", TRAJECTORY)).action == Answer(text="42")


async def test_a_reply_without_an_action_is_asked_again_once() -> None:
    script = [Say("Let me think."), Say(calls=[Call("back", "{}")])]
    async with ScriptedEndpoint(script) as endpoint, connected(endpoint) as model:
        decision = await ModelTarget(model).decide("Who?", TRAJECTORY)
    first, second = (request.body["messages"][1]["content"] for request in endpoint.requests)
    assert decision.action == Back()
    assert second.startswith(first)
    assert "no tool was called" in second.removeprefix(first)
    words = len(f"{first} {second}".split()) + 2 * len(endpoint.requests[0].body["messages"][0]["content"].split())
    assert decision.usage == Usage(input_tokens=words, output_tokens=1)


async def test_two_replies_without_an_action_are_unreadable() -> None:
    script = [Say("Let me think."), Say(calls=[Call("jump", "{}")])]
    async with ScriptedEndpoint(script) as endpoint, connected(endpoint) as model:
        with pytest.raises(ModelUnreadable, match=r"asked twice .* no tool 'jump'.*: jump\(\{\}\)") as caught:
            await ModelTarget(model).decide("Who?", TRAJECTORY)
    assert caught.value.hint


async def test_sources_that_were_never_seen_are_left_out() -> None:
    arguments = f'{{"answer": "42", "sources": ["{SITE}/a", "{SITE}/invented"]}}'
    async with ScriptedEndpoint([Say(calls=[Call("answer", arguments)])]) as endpoint, connected(endpoint) as model:
        decision = await ModelTarget(model).decide("Who?", TRAJECTORY)
    assert decision.action == Answer(text="42", sources=(f"{SITE}/a",))


async def test_a_model_that_cannot_be_used_is_told() -> None:
    async with ScriptedEndpoint([Fail(status=400, message="bad field")]) as endpoint, connected(endpoint) as model:
        with pytest.raises(ModelRefused, match="bad field"):
            await ModelTarget(model).decide("Who?", TRAJECTORY)
