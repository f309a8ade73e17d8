"""What every `Chat` owes whoever calls it, whatever is put around the model that answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import nullcontext
from typing import Any

import pytest
import pytest_asyncio

from agent.errors import ModelRefused
from agent.models.call_log import CallLog
from agent.models.chat import Chat
from agent.models.circuit_breaker import BreakerModel, CircuitBreaker
from agent.models.fallback_model import Candidate, FallbackModel
from agent.models.hedged_model import HedgedModel
from agent.models.hedging import Hedging
from agent.models.metered_model import MeteredModel
from agent.models.reply import Message, ToolCall
from agent.models.retrying_model import RetryingModel
from agent.models.streamed_model import StreamedModel
from agent.models.throttled_model import ThrottledModel
from agent.target import Usage
from tests.endpoints.connected import Wire, wire
from tests.endpoints.scripted import Call, Fail, Say, Scripted

ASK = [Message(role="system", content="be short"), Message(role="user", content="how are you")]
TOOL = {"type": "function", "function": {"name": "visit", "parameters": {"type": "object", "properties": {}}}}
PATIENCE_SECONDS = 10


@pytest_asyncio.fixture(scope="module")
async def line() -> AsyncIterator[Wire]:
    async with wire() as opened:
        yield opened


LOG = CallLog()


def _everything(model: Chat) -> Chat:
    metered = MeteredModel(model, LOG)
    hedged = HedgedModel(metered, Hedging(share=0.5, start_seconds=30), LOG)
    patient = RetryingModel(ThrottledModel(hedged, nullcontext()), LOG)
    return FallbackModel([Candidate(model=BreakerModel(patient, CircuitBreaker(), LOG), log=LOG)])


WRAPPINGS: dict[str, Callable[[Chat], Chat]] = {
    "none": lambda model: model,
    "metered": lambda model: MeteredModel(model, LOG),
    "streamed": StreamedModel,
    "hedged": lambda model: HedgedModel(model, Hedging(), LOG),
    "throttled": lambda model: ThrottledModel(model, nullcontext()),
    "retrying": lambda model: RetryingModel(model, LOG),
    "breaker": lambda model: BreakerModel(model, CircuitBreaker(), LOG),
    "fallback": lambda model: FallbackModel([Candidate(model=model, log=LOG)]),
    "everything": _everything,
}


@pytest.fixture(params=WRAPPINGS.values(), ids=WRAPPINGS.keys())
def wrap(request: pytest.FixtureRequest) -> Callable[[Chat], Chat]:
    wrapping: Callable[[Chat], Chat] = request.param
    return wrapping


async def test_a_whole_reply_brings_everything(wrap: Callable[[Chat], Chat], line: Wire) -> None:
    said = Say("fine", ", thanks", calls=[Call("visit", "{}")], thought="hm")
    model = line.play([said])
    reply = await wrap(model).complete(ASK, tools=[TOOL])
    assert (reply.text, reply.thought) == ("fine, thanks", "hm")
    assert reply.tool_calls == (ToolCall(name="visit", arguments="{}"),)
    assert reply.usage == Usage(input_tokens=5, output_tokens=2)
    assert line.requests[0].body["tools"] == [TOOL]


async def test_a_stream_brings_each_piece_and_then_the_same_reply(wrap: Callable[[Chat], Chat], line: Wire) -> None:
    gate = asyncio.Event()
    model = line.play([Say("one", gate, "two")])
    async with wrap(model).stream(ASK) as reply:
        assert await anext(reply) == "one"
        gate.set()
        assert [piece async for piece in reply] == ["two"]
        assert reply.ended
    assert reply.reply.text == "onetwo"
    assert reply.usage == Usage(input_tokens=5, output_tokens=2)


async def test_a_stream_that_is_left_is_closed(wrap: Callable[[Chat], Chat], line: Wire) -> None:
    model = line.play([Say("one", asyncio.Event())])
    async with wrap(model).stream(ASK) as reply:
        assert await anext(reply) == "one"
    assert not reply.ended
    await asyncio.wait_for(line.requests[0].closed.wait(), PATIENCE_SECONDS)
    assert line.requests[0].outcome == "disconnected"


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("pieces", [(), ("one",)], ids=["before anything", "in the middle"])
async def test_a_call_that_is_cancelled_leaves_no_request(
    wrap: Callable[[Chat], Chat], streaming: bool, pieces: tuple[str, ...], line: Wire
) -> None:
    arrived = asyncio.Event()

    def script(_: dict[str, Any]) -> Scripted:
        arrived.set()
        return Say(*pieces, asyncio.Event())

    model = line.play(script)
    task = asyncio.create_task(_read_all(wrap(model)) if streaming else _complete(wrap(model)))
    await asyncio.wait_for(arrived.wait(), PATIENCE_SECONDS)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(line.requests[0].closed.wait(), PATIENCE_SECONDS)
    assert [request.outcome for request in line.requests] == ["disconnected"]


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "stream"])
async def test_what_cannot_be_mended_fails_at_once(wrap: Callable[[Chat], Chat], streaming: bool, line: Wire) -> None:
    model = line.play([Fail(status=400, message="bad field")])
    with pytest.raises(ModelRefused, match="bad field"):
        await (_read_all(wrap(model)) if streaming else _complete(wrap(model)))
    assert len(line.requests) == 1


async def test_an_error_of_the_reader_passes_through(wrap: Callable[[Chat], Chat], line: Wire) -> None:
    model = line.play([Say("one", asyncio.Event())])
    with pytest.raises(ZeroDivisionError):
        async with wrap(model).stream(ASK):
            raise ZeroDivisionError
    await asyncio.wait_for(line.requests[0].closed.wait(), PATIENCE_SECONDS)


async def test_the_name_is_the_models(wrap: Callable[[Chat], Chat], line: Wire) -> None:
    model = line.play([])
    assert wrap(model).name == "scripted"


async def _complete(model: Chat) -> str:
    return (await model.complete(ASK)).text


async def _read_all(model: Chat) -> str:
    async with model.stream(ASK) as reply:
        return "".join([piece async for piece in reply])
