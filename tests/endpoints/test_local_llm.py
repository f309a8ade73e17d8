"""What llama.cpp's own server makes of the client's requests: the protocol, never the words."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from agent.errors import ModelRefused
from agent.models.model import ChatModel
from agent.models.reply import Message
from agent.targets.prompt import target_messages
from agent.targets.tools import TOOLS
from browser.action import Action, Visit
from browser.observation import Document, Observation
from speccache.environment import Step
from tests.endpoints.connected import connected
from tests.endpoints.local_llm import CONTEXT_TOKENS, LocalEndpoint, local_llm

ASK = [Message(role="user", content="how are you")]


@pytest_asyncio.fixture(scope="module")
async def endpoint() -> AsyncIterator[LocalEndpoint]:
    async with local_llm() as running:
        yield running


@pytest_asyncio.fixture
async def model(endpoint: LocalEndpoint) -> AsyncIterator[ChatModel]:
    async with connected(endpoint, parameters={"temperature": 0, "max_tokens": 8}) as chat_model:
        yield chat_model


async def test_a_stream_brings_what_a_whole_reply_brings(model: ChatModel) -> None:
    whole = await model.complete(ASK)
    async with model.stream(ASK) as reply:
        pieces = [piece async for piece in reply]
    assert len(pieces) > 1
    assert "".join(pieces) == whole.text
    assert reply.usage.input_tokens == whole.usage.input_tokens
    assert reply.usage.output_tokens == whole.usage.output_tokens
    assert reply.reply.text == whole.text
    assert whole.usage.input_tokens > 0
    assert 0 < whole.usage.output_tokens <= 8


async def test_the_tools_and_their_prompt_are_accepted(model: ChatModel) -> None:
    page = Observation(document=Document(requested_url="http://a.test/", url="http://a.test/"), text="[Home][1]")
    trajectory: list[Step[Action, Observation]] = [Step(Visit("http://a.test/"), page)]
    reply = await model.complete(target_messages("Who?", trajectory), tools=[tool.schema() for tool in TOOLS])
    assert reply.usage.input_tokens > 100
    assert reply.text or reply.tool_calls


async def test_a_stream_can_be_left_and_the_next_request_is_served(model: ChatModel) -> None:
    async with model.stream(ASK) as reply:
        await anext(reply)
    assert (await model.complete(ASK)).text


async def test_a_prompt_longer_than_the_context_is_refused(model: ChatModel) -> None:
    with pytest.raises(ModelRefused, match="prompt is too long"):
        await model.complete([Message(role="user", content="word " * CONTEXT_TOKENS)])


async def test_a_wrong_key_is_refused(endpoint: LocalEndpoint) -> None:
    async with connected(endpoint, api_key="sk-wrong") as model:
        with pytest.raises(ModelRefused, match="refused the API key"):
            await model.complete(ASK)
