"""The scripted endpoint records what it was asked, in the order it was asked."""

from __future__ import annotations

import asyncio

import pytest

from agent.errors import ModelRefused
from agent.models.reply import Message
from tests.endpoints.connected import connected
from tests.endpoints.scripted import Hang, Say, ScriptedEndpoint

ASK = [Message(role="user", content="one two")]


async def test_requests_are_recorded_with_body_headers_and_times() -> None:
    async with ScriptedEndpoint([Say("fine", delay_seconds=0.02)]) as endpoint, connected(endpoint) as model:
        await model.complete(ASK)
        (request,) = endpoint.requests
        await request.closed.wait()
    assert request.body["messages"] == [{"role": "user", "content": "one two"}]
    assert request.headers["authorization"] == "Bearer sk-scripted"
    assert request.outcome == "served"
    assert request.ended is not None
    assert request.ended - request.started >= 0.02


async def test_a_function_answers_by_what_was_asked() -> None:
    def script(body: dict[str, object]) -> Say:
        return Say(str(body["model"]).upper())

    async with ScriptedEndpoint(script) as endpoint, connected(endpoint) as model:
        assert (await model.complete(ASK)).text == "SCRIPTED"


async def test_a_script_that_has_ended_says_so() -> None:
    async with ScriptedEndpoint() as endpoint, connected(endpoint) as model:
        with pytest.raises(ModelRefused, match="the script has ended"):
            await model.complete(ASK)


async def test_closing_does_not_wait_for_a_request_that_hangs() -> None:
    async with ScriptedEndpoint([Hang()]) as endpoint, connected(endpoint) as model:
        task = asyncio.create_task(model.complete(ASK))
        while not endpoint.requests:
            await asyncio.sleep(0)
        await endpoint.__aexit__()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert endpoint.requests[0].outcome == "disconnected"
