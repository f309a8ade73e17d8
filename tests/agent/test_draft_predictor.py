"""The draft model's guesses: each at once, only links of the page, and never a disturbance."""

from __future__ import annotations

import asyncio

import pytest

from agent.errors import ModelRefused, ModelUnreachable
from agent.predictors.draft_predictor import DraftPredictor
from browser.action import Action, Visit
from browser.observation import Observation
from speccache.environment import Step
from speccache.predictor import Guess, Predictor
from tests.agent.pages import SITE, page, walk
from tests.endpoints.connected import connected
from tests.endpoints.scripted import Drop, Fail, Say, Scripted, ScriptedEndpoint

TRAJECTORY = walk(page(links=20))
PATIENCE_SECONDS = 10


def _visit(number: int) -> Visit:
    return Visit(f"{SITE}/page-{number}")


async def _guesses(predictor: Predictor[Action, Observation], steps: list[Step[Action, Observation]]) -> list[Action]:
    return [guess.action async for guess in predictor.predict(steps)]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("3\n12\n7\n", [3, 12, 7]),
        ("3\n12\n7", [3, 12, 7]),
        ("1. [3]\n2. [Page 12][12]\n- 7", [3, 12, 7]),
        ("1. 3\n2) 12\nvisit 7", [3, 12, 7]),
        ("Action Input 1: 3\nLink: 12\n#7", [3, 12, 7]),
        ("Here are the links:\n\n3\nbecause of 12\n99\n0\n3\n7", [3, 7]),
        ("3\n12\n7\n1\n2", [3, 12, 7]),
        ("<think>\n5\n6\n</think>\n3", [3]),
        ("I cannot tell.", []),
        ("", []),
    ],
)
async def test_lines_that_name_a_link_are_guesses(text: str, numbers: list[int]) -> None:
    async with ScriptedEndpoint([Say(text)]) as endpoint, connected(endpoint) as model:
        predictor = DraftPredictor("Who?", model)
        assert await _guesses(predictor, TRAJECTORY) == [_visit(number) for number in numbers]
    assert predictor.failures == 0


async def test_a_guess_is_given_as_soon_as_its_line_is_complete() -> None:
    line_end, second = asyncio.Event(), asyncio.Event()
    script = [Say("1", line_end, "2\n", second, "7\n")]
    async with ScriptedEndpoint(script) as endpoint, connected(endpoint) as model:
        guesses = DraftPredictor("Who?", model).predict(TRAJECTORY)
        line_end.set()
        assert await anext(guesses) == Guess(action=_visit(12), predictor="draft:scripted", rank=1, score=1.0)
        second.set()
        assert await anext(guesses) == Guess(action=_visit(7), predictor="draft:scripted", rank=2, score=0.5)
        assert [guess async for guess in guesses] == []


async def test_usage_and_time_add_up() -> None:
    ticks = iter([1.0, 3.0, 10.0, 11.5])
    async with ScriptedEndpoint([Say("3\n", "4\n"), Say("5")]) as endpoint, connected(endpoint) as model:
        predictor = DraftPredictor("Who?", model, max_guesses=1, clock=lambda: next(ticks))
        assert await _guesses(predictor, TRAJECTORY) == [_visit(3)]
        assert await _guesses(predictor, TRAJECTORY) == [_visit(5)]
    assert predictor.usage.output_tokens == 3
    assert predictor.usage.input_tokens > 0
    assert predictor.seconds == 3.5


async def test_a_page_without_links_costs_no_request() -> None:
    async with ScriptedEndpoint() as endpoint, connected(endpoint) as model:
        assert await _guesses(DraftPredictor("Who?", model), walk(page(links=3), page())) == []
    assert endpoint.requests == []


async def test_the_current_page_is_asked_about() -> None:
    steps = walk(page("/root", text="root text", links=3), page("/now", text="current text", links=3))
    async with ScriptedEndpoint([Say("1")]) as endpoint, connected(endpoint) as model:
        await _guesses(DraftPredictor("Who?", model), steps)
    asked = endpoint.requests[0].body["messages"][1]["content"]
    assert "current text" in asked
    assert "root text" not in asked


async def test_a_failing_model_ends_the_prediction_and_is_counted() -> None:
    script: list[Scripted] = [Fail(status=400), Drop("3\n4"), Say("5")]
    async with ScriptedEndpoint(script) as endpoint, connected(endpoint) as model:
        predictor = DraftPredictor("Who?", model)
        assert await _guesses(predictor, TRAJECTORY) == []
        assert isinstance(predictor.last_error, ModelRefused)
        assert await _guesses(predictor, TRAJECTORY) == [_visit(3)]
        assert isinstance(predictor.last_error, ModelUnreachable)
        assert await _guesses(predictor, TRAJECTORY) == [_visit(5)]
    assert predictor.failures == 2


async def test_closing_the_iterator_closes_the_request() -> None:
    async with ScriptedEndpoint([Say("3\n", asyncio.Event())]) as endpoint, connected(endpoint) as model:
        guesses = DraftPredictor("Who?", model).predict(TRAJECTORY)
        await anext(guesses)
        await guesses.aclose()
        await asyncio.wait_for(endpoint.requests[0].closed.wait(), PATIENCE_SECONDS)
        assert endpoint.requests[0].outcome == "disconnected"


async def test_cancelling_the_reader_closes_the_request() -> None:
    first = asyncio.Event()

    async def follow(predictor: DraftPredictor) -> None:
        async for _ in predictor.predict(TRAJECTORY):
            first.set()

    async with ScriptedEndpoint([Say("3\n", asyncio.Event())]) as endpoint, connected(endpoint) as model:
        predictor = DraftPredictor("Who?", model)
        task = asyncio.create_task(follow(predictor))
        await asyncio.wait_for(first.wait(), PATIENCE_SECONDS)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(endpoint.requests[0].closed.wait(), PATIENCE_SECONDS)
        assert endpoint.requests[0].outcome == "disconnected"
    assert predictor.failures == 0
