"""The agent as a library: one pool, many questions, events as they happen."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from agent import Agent, Question
from agent.errors import ConfigurationError
from agent.events import Finished, RunEvent, Started, Thinking
from browser.errors import AddressRefused
from tests.endpoints.scripted import Body, Call, Say, Scripted, ScriptedEndpoint
from tests.website import Website

PAGES = {
    "/": "<title>Depot</title><h1>Depot</h1><p>The depot opens at 7 o'clock.</p><a href='/tram'>Trams</a>",
    "/tram": "<title>Trams</title><h1>Trams</h1><p>The oldest tram was built in 1908 by Carl Lind.</p>",
}


@pytest.fixture(autouse=True)
def empty_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
async def site() -> AsyncIterator[Website]:
    async with Website(dict(PAGES)) as site:
        yield site


@pytest.fixture(scope="module")
async def agent() -> AsyncIterator[Agent]:
    async with Agent.open(target="embedded", pool_size=2) as agent:
        yield agent


async def test_a_question_is_answered(agent: Agent, site: Website) -> None:
    outcome = await agent.ask("When was the oldest tram built?", url=site.url + "/")
    assert outcome.status == "answered"
    assert "1908" in outcome.answer
    assert outcome.support.url == site.url + "/tram"


async def test_many_questions_share_the_pool_and_keep_their_order(agent: Agent, site: Website) -> None:
    asked = ["When was the oldest tram built?", "When does the depot open?", "Who built the oldest tram?"]
    questions = [Question(text=text, url=site.url + "/") for text in asked]
    outcomes = await agent.ask_many([*questions, Question(text="What?", url=f"{site.url}/gone")], concurrency=2)
    for outcome, says in zip(outcomes, ["1908", "7 o'clock", "Carl Lind"], strict=False):
        assert says in outcome.answer
    assert len(outcomes) == 4


async def test_an_address_that_is_none_stops_before_anything_is_asked(agent: Agent, site: Website) -> None:
    before = len(site.asked)
    with pytest.raises(AddressRefused):
        await agent.ask_many([Question(text="a", url=site.url), Question(text="b", url="file:///etc/passwd")])
    assert len(site.asked) == before


async def test_a_run_can_be_followed(agent: Agent, site: Website) -> None:
    async with agent.run("When was the oldest tram built?", url=site.url + "/") as run:
        events: list[RunEvent] = [event async for event in run]
        again = [event async for event in run]
        outcome = await run.outcome()
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Finished)
    assert again == []
    assert "1908" in outcome.answer


async def test_a_run_that_is_left_ends(agent: Agent, site: Website) -> None:
    async with agent.run("When was the oldest tram built?", url=site.url + "/") as run:
        async for event in run:
            if isinstance(event, Thinking):
                break
    with pytest.raises(asyncio.CancelledError):
        await run.outcome()


async def test_the_answer_comes_as_a_model_of_ones_own(site: Website) -> None:
    class Tram(BaseModel):
        year: int

    def reply(body: Body) -> Scripted:
        if any(tool["function"]["name"] == "record" for tool in body.get("tools", ())):
            return Say(calls=[Call("record", '{"year": 1908}')])
        return Say(calls=[Call("answer", json.dumps({"answer": "1908", "sources": []}))])

    async with ScriptedEndpoint(reply, model=None) as endpoint:
        chosen = {"base_url": endpoint.base_url, "api_key": endpoint.api_key, "strategy": "react", "pool_size": 1}
        async with Agent.open(target="scripted", speculation=False, **chosen) as agent:
            outcome = await agent.ask("When?", url=site.url + "/tram", schema=Tram)
            assert outcome.data == Tram(year=1908)
            assert outcome.support.url == site.url + "/tram"


async def test_a_schema_needs_a_model(agent: Agent, site: Website) -> None:
    with pytest.raises(ConfigurationError, match="needs a model"):
        await agent.ask("When?", url=site.url + "/", schema={"type": "object"})


async def test_a_wrong_setting_is_told_of() -> None:
    with pytest.raises(ConfigurationError, match="pool_size"):
        async with Agent.open(pool_size=0):
            pass
