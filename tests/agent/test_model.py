"""The chat model over real HTTP, against a scripted endpoint; `tests.endpoints.test_local_llm` asks a real one."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any

import pytest

from agent.errors import ModelError, ModelLate, ModelRefused, ModelUnreachable, ModelUnreadable
from agent.models.model import CallLimits, ChatModel
from agent.models.model_failure import retry_after_seconds
from agent.models.reply import Message, ToolCall
from agent.target import Usage
from tests.endpoints.connected import connected
from tests.endpoints.scripted import Call, Drop, Fail, Hang, Rubbish, Say, Scripted, ScriptedEndpoint

ASK = [Message(role="system", content="be short"), Message(role="user", content="how are you")]
TOOL = {"type": "function", "function": {"name": "visit", "parameters": {"type": "object", "properties": {}}}}
PATIENCE_SECONDS = 10


async def test_a_reply_brings_text_and_usage() -> None:
    async with ScriptedEndpoint([Say("fine", ", thanks")]) as endpoint, connected(endpoint) as model:
        reply = await model.complete(ASK)
    assert reply.text == "fine, thanks"
    assert reply.usage == Usage(input_tokens=5, output_tokens=2)
    assert reply.seconds > 0


async def test_a_reply_brings_tool_calls_in_order() -> None:
    calls = [Call("visit", '{"target": "3"}'), Call("back", "{}")]
    async with ScriptedEndpoint([Say(calls=calls)]) as endpoint, connected(endpoint) as model:
        reply = await model.complete(ASK, tools=[TOOL])
    assert reply.tool_calls == (
        ToolCall(name="visit", arguments='{"target": "3"}'),
        ToolCall(name="back", arguments="{}"),
    )
    assert reply.text == ""


async def test_nothing_is_sent_that_a_reasoning_model_refuses() -> None:
    async with ScriptedEndpoint([Say("a"), Say("b")]) as endpoint, connected(endpoint) as model:
        await model.complete(ASK, tools=[TOOL])
        await model.complete(ASK)
    assert [set(request.body) for request in endpoint.requests] == [
        {"model", "messages", "tools"},
        {"model", "messages"},
    ]


async def test_parameters_are_sent_with_every_request() -> None:
    async with (
        ScriptedEndpoint([Say("a"), Say("b")]) as endpoint,
        connected(endpoint, parameters={"service_tier": "priority"}) as model,
    ):
        await model.complete(ASK)
        async with model.stream(ASK) as reply:
            assert [piece async for piece in reply] == ["b"]
    assert [request.body["service_tier"] for request in endpoint.requests] == ["priority", "priority"]


async def test_a_stream_gives_each_piece_as_it_is_written_and_the_usage_at_its_end() -> None:
    gate = asyncio.Event()
    async with (
        ScriptedEndpoint([Say("one", gate, "two")]) as endpoint,
        connected(endpoint) as model,
        model.stream(ASK) as reply,
    ):
        assert await anext(reply) == "one"
        assert reply.usage == Usage()
        gate.set()
        assert [piece async for piece in reply] == ["two"]
        assert reply.usage == Usage(input_tokens=5, output_tokens=2)


async def test_leaving_a_stream_closes_its_request() -> None:
    async with ScriptedEndpoint([Say("one", asyncio.Event())]) as endpoint, connected(endpoint) as model:
        async with model.stream(ASK) as reply:
            await anext(reply)
        await asyncio.wait_for(endpoint.requests[0].closed.wait(), PATIENCE_SECONDS)
        assert endpoint.requests[0].outcome == "disconnected"


@pytest.mark.parametrize("streaming", [True, False])
async def test_cancelling_closes_the_request(streaming: bool) -> None:
    arrived = asyncio.Event()

    def script(_: dict[str, Any]) -> Scripted:
        arrived.set()
        return Say(asyncio.Event())

    async with ScriptedEndpoint(script) as endpoint, connected(endpoint) as model:
        task = asyncio.create_task(_read_all(model) if streaming else _complete(model))
        await asyncio.wait_for(arrived.wait(), PATIENCE_SECONDS)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(endpoint.requests[0].closed.wait(), PATIENCE_SECONDS)
        assert endpoint.requests[0].outcome == "disconnected"


@pytest.mark.parametrize(
    ("failure", "kind", "words", "hint"),
    [
        (Fail(status=404, message="no such model"), ModelRefused, "was not found: ", "model's name"),
        (Fail(status=403), ModelRefused, "refused the API key", "SPECCACHE_API_KEY"),
        (Fail(status=429, message="slow down"), ModelUnreachable, "slow down", "Wait"),
        (Fail(status=503, message="busy"), ModelUnreachable, "busy", "later"),
        (Fail(status=429, code="insufficient_quota"), ModelRefused, "quota", "billing"),
        (Fail(status=500, message="oops"), ModelUnreachable, "oops", "later"),
        (Fail(status=400, message="prompt is too long"), ModelRefused, "too long", "longer context"),
        (Fail(status=400, message="bad field"), ModelRefused, "bad field", ""),
    ],
)
async def test_a_failure_says_what_happened_to_what_and_what_to_do(
    failure: Fail, kind: type[ModelError], words: str, hint: str
) -> None:
    async with ScriptedEndpoint([failure, failure]) as endpoint, connected(endpoint) as model:
        for attempt in (_complete, _read_all):
            with pytest.raises(kind, match=words) as caught:
                await attempt(model)
            assert f"scripted at {endpoint.base_url}" in str(caught.value)
            assert hint in caught.value.hint
    assert len(endpoint.requests) == 2, "nothing is tried twice here"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "7", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 40.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:10 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
    ],
)
def test_what_an_endpoint_asks_for_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers, now_seconds=60.0) == seconds


async def test_a_failure_says_when_to_come_back() -> None:
    script = [Fail(status=status, headers={"Retry-After": "7"}) for status in (429, 503)]
    async with ScriptedEndpoint(script) as endpoint, connected(endpoint) as model:
        for _ in script:
            with pytest.raises(ModelUnreachable) as caught:
                await model.complete(ASK)
            assert caught.value.retry_after_seconds == 7.0


async def test_a_refused_key_is_not_repeated() -> None:
    key = "sk-wrong-and-secret"
    async with ScriptedEndpoint() as endpoint, connected(endpoint, api_key=key) as model:
        with pytest.raises(ModelRefused, match="refused the API key") as caught:
            await model.complete(ASK)
        assert key not in f"{caught.value}{caught.value.hint}{model!r}{vars(model)['_edge']!r}"


async def test_a_key_that_an_endpoint_repeats_is_blanked() -> None:
    async with (
        ScriptedEndpoint([Fail(status=400, message="bad: sk-scripted")]) as endpoint,
        connected(endpoint) as model,
    ):
        with pytest.raises(ModelRefused, match="bad: …"):
            await model.complete(ASK)


async def test_a_missing_model_and_a_long_prompt_are_told_apart() -> None:
    async with ScriptedEndpoint(max_characters=5) as endpoint:
        async with connected(endpoint, model="absent") as model:
            with pytest.raises(ModelRefused, match="`absent` does not exist"):
                await model.complete(ASK)
        async with connected(endpoint) as model:
            with pytest.raises(ModelRefused, match="prompt is too long"):
                await model.complete(ASK)


async def test_a_closed_port_is_unreachable() -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unheard.getsockname()[1]}/v1"
        model = ChatModel("scripted", base_url=url, api_key="")
        with pytest.raises(ModelUnreachable, match=f"No connection to scripted at {url}") as caught:
            await model.complete(ASK)
        assert "runs" in caught.value.hint
        await model.aclose()
        await model.aclose()


async def test_an_endpoint_that_never_answers_is_given_up() -> None:
    limits = CallLimits(total_seconds=0.05)
    async with ScriptedEndpoint([Hang(), Hang()]) as endpoint, connected(endpoint, limits=limits) as model:
        with pytest.raises(ModelLate, match=r"did not answer within 0.05 s|did not answer in time"):
            await model.complete(ASK)
        with pytest.raises(ModelLate):
            await _read_all(model)
        for request in endpoint.requests:
            await asyncio.wait_for(request.closed.wait(), PATIENCE_SECONDS)
            assert request.outcome == "disconnected"


async def test_a_model_that_does_not_begin_is_given_up_before_its_time_is_over() -> None:
    limits = CallLimits(total_seconds=60, first_token_seconds=0.05)
    # The empty piece is the event without content that some endpoints send at once.
    script = [Hang(), Say("", asyncio.Event())]
    async with ScriptedEndpoint(script) as endpoint, connected(endpoint, limits=limits) as model:
        for _ in script:
            with pytest.raises(ModelLate, match=r"wrote nothing within 0.05 s"):
                await _read_all(model)


async def test_a_thought_is_a_beginning() -> None:
    gate = asyncio.Event()
    limits = CallLimits(total_seconds=60, first_token_seconds=5)
    async with (
        ScriptedEndpoint([Say(gate, "fine", thought="hm")]) as endpoint,
        connected(endpoint, limits=limits) as model,
        model.stream(ASK) as reply,
    ):
        assert reply.pieces == 1
        gate.set()
        assert [piece async for piece in reply] == ["fine"]


async def test_a_stream_that_falls_silent_is_given_up() -> None:
    async with (
        ScriptedEndpoint([Say("one", asyncio.Event())]) as endpoint,
        connected(endpoint, limits=CallLimits(total_seconds=0.2)) as model,
        model.stream(ASK) as reply,
    ):
        assert await anext(reply) == "one"
        with pytest.raises(ModelLate, match="did not answer"):
            await anext(reply)


async def test_a_stream_that_breaks_off_is_unreachable() -> None:
    async with (
        ScriptedEndpoint([Drop("one")]) as endpoint,
        connected(endpoint) as model,
        model.stream(ASK) as reply,
    ):
        assert await anext(reply) == "one"
        with pytest.raises(ModelUnreachable, match="broke off"):
            await anext(reply)


async def test_a_stream_that_ends_in_an_error_event_says_what_it_said() -> None:
    said = Rubbish(body='data: {"error": {"message": "overloaded"}}\n\n', content_type="text/event-stream")
    async with ScriptedEndpoint([said]) as endpoint, connected(endpoint) as model:
        with pytest.raises(ModelUnreachable, match="broke off: overloaded"):
            await _read_all(model)


MISSHAPEN = [
    "{}",
    "[]",
    "null",
    "7",
    '"text"',
    '{"choices": []}',
    '{"choices": "text"}',
    '{"choices": [{}]}',
    '{"choices": [{"message": {"content": ["text"]}, "delta": {"content": ["text"]}}]}',
    '{"choices": [{"message": {"tool_calls": [{"function": {"name": "visit", "arguments": {}}}]}, "delta": 7}]}',
    '{"choices": [',
]


@pytest.mark.parametrize("body", MISSHAPEN)
async def test_json_that_is_no_reply_is_unreadable(body: str) -> None:
    script = [
        Rubbish(body=body, content_type="application/json"),
        Rubbish(body=f"data: {body}\n\n", content_type="text/event-stream"),
    ]
    async with ScriptedEndpoint(script) as endpoint, connected(endpoint) as model:
        for attempt in (_complete, _read_all):
            if attempt is _read_all and body == '{"choices": []}':
                continue  # an event without choices is the protocol's own way to send the usage
            with pytest.raises(ModelUnreadable):
                await attempt(model)


async def test_a_web_page_in_place_of_a_reply_is_unreadable() -> None:
    async with ScriptedEndpoint([Rubbish(), Rubbish()]) as endpoint, connected(endpoint) as model:
        with pytest.raises(ModelUnreadable, match="Sign in") as caught:
            await model.complete(ASK)
        assert "/v1" in caught.value.hint
        with pytest.raises(ModelUnreadable, match="no event"):
            await _read_all(model)


async def test_the_least_that_is_a_reply_is_read() -> None:
    body = json.dumps({"choices": [{"message": {"content": "fine"}}]})
    script = [Rubbish(body=body, content_type="application/json")]
    async with ScriptedEndpoint(script) as endpoint, connected(endpoint) as model:
        reply = await model.complete(ASK)
    assert (reply.text, reply.usage) == ("fine", Usage())


async def test_an_endpoint_without_tools_is_asked_in_text_from_then_on() -> None:
    script = [Say("one"), Say("two")]
    async with ScriptedEndpoint(script, refuses=["tools"]) as endpoint, connected(endpoint) as model:
        replies = [await model.complete(ASK, tools=[TOOL]) for _ in range(2)]
    assert [reply.text for reply in replies] == ["one", "two"]
    assert ["tools" in request.body for request in endpoint.requests] == [True, False, False]


async def test_an_endpoint_without_stream_options_still_streams() -> None:
    async with ScriptedEndpoint([Say("one")], refuses=["stream_options"]) as endpoint, connected(endpoint) as model:
        assert await _read_all(model) == "one"


async def test_tools_are_kept_where_they_were_not_the_reason() -> None:
    def script(body: dict[str, Any]) -> Scripted:
        return Fail(status=400, message="too many tokens in messages and tools")

    async with ScriptedEndpoint(script) as endpoint, connected(endpoint) as model:
        for _ in range(2):
            with pytest.raises(ModelRefused, match="too many tokens"):
                await model.complete(ASK, tools=[TOOL])
    assert ["tools" in request.body for request in endpoint.requests] == [True, False, True, False]


async def _complete(model: ChatModel) -> str:
    return (await model.complete(ASK)).text


async def _read_all(model: ChatModel) -> str:
    async with model.stream(ASK) as reply:
        return "".join([piece async for piece in reply])
