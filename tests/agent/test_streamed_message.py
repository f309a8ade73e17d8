"""A reply that streams: its reads run before it has ended, and what it says in the end is what it says as a whole."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from openai import APIError, AsyncOpenAI

from agent.adapters.openai_tools import run_tools
from agent.adapters.streamed_message import StreamedMessage
from speccache import Event, EventKind, SpeculativeTools
from tests.endpoints.scripted import Call, Say, ScriptedEndpoint
from tests.speccache.progress import until
from tests.speccache.shop import Shop

Delta = Mapping[str, Any]
TASK = [{"role": "user", "content": "Where are the orders of user 7?"}]
SCHEMAS = [{"type": "function", "function": {"name": "get_user", "parameters": {"type": "object"}}}]
ANSWER: Delta = {"role": "assistant", "content": "On their way."}
BROKEN: Delta = {}
"""Stands for a connection that breaks."""


def over(shop: Shop, events: list[Event] | None = None) -> SpeculativeTools:
    reads = {"get_user": shop.get_user, "get_order": shop.get_order}
    listener = None if events is None else events.append
    return SpeculativeTools(reads, writes={"cancel": shop.cancel}, predict=lambda _: (), listener=listener)


def begun(index: int, name: str, *, identity: str = "") -> Delta:
    fragment = {"index": index, "id": identity or f"call_{index}", "type": "function"}
    return {"content": None, "tool_calls": [{**fragment, "function": {"name": name, "arguments": ""}}]}


def written(index: int, arguments: str) -> Delta:
    return {"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}


@asynccontextmanager
async def streaming(*replies: Sequence[Delta | asyncio.Event]) -> AsyncIterator[AsyncOpenAI]:
    """Serve replies in their order, each delta as a chunk, and each event waited for at its place."""
    left = iter(replies)

    async def answer(request: web.Request) -> web.StreamResponse:
        assert (await request.json())["stream"] is True
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for delta in next(left):
            if isinstance(delta, asyncio.Event):
                await delta.wait()
            elif delta is BROKEN:
                await response.write(b'data: {"error": {"message": "overloaded"}}\n\n')
            else:
                chunk = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m"}
                choice = {"index": 0, "delta": delta, "finish_reason": None}
                await response.write(f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n".encode())
        await response.write(b"data: [DONE]\n\n")
        return response

    application = web.Application()
    application.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    async with AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0) as client:
        yield client
    await runner.cleanup()


async def talk(client: AsyncOpenAI, tools: SpeculativeTools) -> list[str]:
    conversation = await run_tools(client, tools, model="m", messages=TASK, schemas=SCHEMAS, stream=True)
    assert conversation.answer == "On their way."
    return [message["content"] for message in conversation.messages if message["role"] == "tool"]


async def test_a_read_runs_while_the_reply_still_streams_and_the_call_joins_it() -> None:
    shop, events, more = Shop(), list[Event](), asyncio.Event()
    held = shop.shut("order 71")
    reply = [
        *(begun(0, "get_order"), written(0, '{"order"'), written(0, ": 70}")),
        *(begun(1, "get_order"), written(1, '{"order": 71}'), more),
        {"content": "Looking."},
    ]
    async with streaming(reply, [ANSWER]) as client, over(shop, events) as tools:
        conversation = asyncio.create_task(talk(client, tools))
        await until(events, EventKind.LOAD)
        await shop.until_running("order 71")
        assert not more.is_set()  # the reply cannot have ended
        assert (tools.account.speculated, tools.account.hits, tools.account.joins) == (2, 0, 0)
        more.set()
        await until(events, EventKind.HIT)
        held.set()
        results = await conversation
    assert [json.loads(text)["order"] for text in results] == [70, 71]
    assert sorted(shop.runs) == ["order 70", "order 71"]
    assert (tools.account.hits, tools.account.joins, tools.account.misses, tools.account.wasted) == (1, 1, 0, 0)
    assert tools.account.hidden_seconds > 0


async def test_a_call_that_is_never_finished_begins_nothing() -> None:
    shop = Shop()
    reply = [begun(0, "get_user"), written(0, '{"id": 7, "detail": {}'), written(0, ' "'), BROKEN]
    async with streaming(reply) as client, over(shop) as tools:
        with pytest.raises(APIError, match="overloaded"):
            await talk(client, tools)
        assert (shop.runs, tools.account.speculated) == ([], 0)


async def test_what_comes_after_a_call_with_effects_waits_for_it() -> None:
    shop, events, more = Shop(), list[Event](), asyncio.Event()
    calls = [("get_order", 71), ("cancel", 70), ("get_order", 70)]
    deltas = [
        delta
        for at, (name, order) in enumerate(calls)
        for delta in (begun(at, name), written(at, f'{{"order": {order}}}'))
    ]
    async with streaming([*deltas, more], [ANSWER]) as client, over(shop, events) as tools:
        conversation = asyncio.create_task(talk(client, tools))
        await until(events, EventKind.LOAD)
        assert shop.runs == ["order 71"]
        more.set()
        before, cancelled, after = await conversation
    assert (json.loads(before)["cancelled"], cancelled) == (False, "70 is cancelled")
    assert json.loads(after)["cancelled"] is True
    assert shop.runs == ["order 71", "cancel 70", "order 70"]


async def test_a_call_with_effects_begins_nothing_and_neither_do_wrong_ones() -> None:
    shop = Shop()
    wrong = [begun(0, "get_user"), written(0, '{"nr": 7}'), begun(1, "get_usr"), written(1, "{}")]
    replies = [[begun(0, "cancel"), written(0, '{"order": 70}')], wrong, [ANSWER]]
    async with streaming(*replies) as client, over(shop) as tools:
        assert "no tool 'get_usr'" in (await talk(client, tools))[2]
        assert (shop.runs, tools.account.speculated) == (["cancel 70"], 0)


@pytest.mark.parametrize(
    "said", [Say("Let me ", "see."), Say("Hm.", calls=[Call("get_user", '{"id": 7}')], thought="7")]
)
async def test_the_message_is_that_of_the_whole_reply(said: Say) -> None:
    request: dict[str, Any] = {"model": "scripted", "messages": TASK}
    async with ScriptedEndpoint([said, said]) as endpoint, over(Shop()) as tools:
        address = {"base_url": endpoint.base_url, "api_key": endpoint.api_key}
        client, reply = AsyncOpenAI(**address, max_retries=0), StreamedMessage(tools)
        whole = (await client.chat.completions.create(**request)).choices[0].message
        async for chunk in await client.chat.completions.create(**request, stream=True):
            reply.take(chunk)
        await client.close()
    assert reply.message == whole.model_dump(exclude_none=True)


async def test_calls_of_one_index_are_told_apart_and_what_else_they_hold_is_kept() -> None:
    signed = {
        "tool_calls": [{"index": 0, "id": "b", "extra_content": {"signature": "x"}, "function": {"name": "get_user"}}]
    }
    reply = [begun(0, "get_user", identity="a"), written(0, '{"id": 7}'), signed, written(0, '{"id": 8}')]
    async with streaming(reply) as client, over(Shop()) as tools:
        message = StreamedMessage(tools)
        async for chunk in await client.chat.completions.create(model="m", messages=[], stream=True):
            message.take(chunk)
        first, second = message.message["tool_calls"]
        assert (first["id"], first["function"]["arguments"]) == ("a", '{"id": 7}')
        assert (second["id"], second["function"]["arguments"]) == ("b", '{"id": 8}')
        assert second["extra_content"] == {"signature": "x"}
        assert tools.account.speculated == 2
