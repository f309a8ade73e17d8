"""What is taken out of a reply, whole or streamed: the words, the thought, the tools, the tokens."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.models.reply import Message, Reply, ToolCall
from agent.models.streamed_model import StreamedModel
from agent.models.thought import Split, ThoughtSplitter, split
from agent.target import Usage
from tests.endpoints.connected import connected
from tests.endpoints.scripted import Call, Fail, Rubbish, Say, Scripted, ScriptedEndpoint

ASK = [Message(role="user", content="how are you")]
TOOL = {"type": "function", "function": {"name": "visit", "parameters": {"type": "object", "properties": {}}}}


async def _both(said: Scripted, **options: Any) -> list[Reply]:
    """The same reply, asked for as a whole and as a stream."""
    async with ScriptedEndpoint([said, said]) as endpoint, connected(endpoint, **options) as model:
        replies = [await way.complete(ASK, tools=[TOOL]) for way in (model, StreamedModel(model))]
    assert [request.body.get("stream", False) for request in endpoint.requests] == [False, True]
    return replies


@pytest.mark.parametrize(
    "said",
    [
        Say("The answer", " is 7.", thought="Let me see."),
        Say("<think>Let me", " see.</think>", "The answer is 7."),
        Say("<th", "ink>Let me see.</thi", "nk>\n\nThe answer is 7."),
        Say("<thought>Let me see.</thought>The answer is 7."),
        Say("Let me see.</think>The answer is 7."),
    ],
    ids=["field", "tags", "cut tags", "other tags", "opened by the prompt"],
)
async def test_what_is_thought_aloud_is_no_part_of_the_answer(said: Say) -> None:
    for reply in await _both(said):
        assert (reply.text, reply.thought) == ("The answer is 7.", "Let me see.")


async def test_a_thought_that_never_ends_is_no_answer() -> None:
    for reply in await _both(Say("<think>Let me see")):
        assert (reply.text, reply.thought) == ("", "Let me see")


async def test_a_thought_is_not_shown_while_it_is_written() -> None:
    script = [Say("<think>a</think>", "one", " two")]
    async with ScriptedEndpoint(script) as endpoint, connected(endpoint) as model, model.stream(ASK) as reply:
        assert [piece async for piece in reply] == ["one", " two"]


@given(st.text(alphabet="<>/thinkoug \n", max_size=40), st.randoms())
def test_a_text_is_split_the_same_in_any_pieces(text: str, random: Any) -> None:
    splitter = ThoughtSplitter()
    shown, rest = "", text
    while rest:
        size = random.randint(1, len(rest))
        shown, rest = shown + splitter.feed(rest[:size]), rest[size:]
    shown += splitter.end()
    if splitter.thought or "</think>" not in text:
        assert Split(thought=splitter.thought, text=shown) == split(text)


async def test_tool_calls_are_put_together_in_order() -> None:
    calls = [Call("visit", '{"target": "3"}'), Call("back", "{}")]
    for reply in await _both(Say("I go.", calls=calls)):
        assert reply.tool_calls == (
            ToolCall(name="visit", arguments='{"target": "3"}'),
            ToolCall(name="back", arguments="{}"),
        )
        assert reply.text == "I go."


async def test_calls_that_share_an_index_are_told_apart_by_their_ids() -> None:
    def event(number: int) -> str:
        function = {"name": "visit", "arguments": f'{{"target": "{number}"}}'}
        call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
        return f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'tool_calls': [call]}}]})}\n\n"

    script = [Rubbish(body=event(1) + event(2), content_type="text/event-stream")]
    async with ScriptedEndpoint(script) as endpoint, connected(endpoint) as model:
        reply = await StreamedModel(model).complete(ASK)
    assert [call.arguments for call in reply.tool_calls] == ['{"target": "1"}', '{"target": "2"}']


@pytest.mark.parametrize(
    ("counted", "usage"),
    [
        (None, Usage()),
        ({"prompt_tokens": 9, "completion_tokens": 2}, Usage(input_tokens=9, output_tokens=2)),
        (
            # Google's: what was thought is in the total alone.
            {"prompt_tokens": 21, "completion_tokens": 198, "total_tokens": 624},
            Usage(input_tokens=21, output_tokens=603),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 8}},
            Usage(input_tokens=9, output_tokens=2, cached_tokens=8),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 6},
            Usage(input_tokens=9, output_tokens=2, cached_tokens=6),
        ),
    ],
    ids=["none", "plain", "google", "openai", "deepseek"],
)
async def test_tokens_are_counted_as_each_provider_tells_them(counted: dict[str, Any] | None, usage: Usage) -> None:
    for reply in await _both(Say("fine", fields={"usage": counted})):
        assert reply.usage == usage
        assert reply.usage.known is (counted is not None)


async def test_the_tier_that_served_is_told() -> None:
    for reply in await _both(Say("fine", fields={"service_tier": "default"}), parameters={"service_tier": "priority"}):
        assert reply.service_tier == "default"


def _reasoning(body: dict[str, Any]) -> Scripted:
    """Refuse what OpenAI's reasoning models refuse, in their words."""
    if "max_tokens" in body:
        words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'."
        return Fail(status=400, message=words)
    if "temperature" in body:
        words = "Unsupported value: 'temperature' does not support 0 with this model. Only the default is supported."
        return Fail(status=400, message=words)
    return Say("fine")


async def test_a_reasoning_model_is_asked_in_its_own_way_from_then_on() -> None:
    parameters = {"max_tokens": 64, "temperature": 0}
    async with ScriptedEndpoint(_reasoning) as endpoint, connected(endpoint, parameters=parameters) as model:
        for _ in range(2):
            assert (await model.complete(ASK)).text == "fine"
    assert [set(request.body) - {"model", "messages"} for request in endpoint.requests] == [
        {"max_tokens", "temperature"},
        {"max_completion_tokens", "temperature"},
        {"max_completion_tokens"},
        {"max_completion_tokens"},
    ]
    assert endpoint.requests[-1].body["max_completion_tokens"] == 64
