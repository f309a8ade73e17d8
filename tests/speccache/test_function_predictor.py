"""A function as a predictor."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing

import pytest

from speccache import Event, EventKind, FunctionPredictor, SpeculativeEnvironment, Step
from tests.speccache.maze import Maze
from tests.speccache.progress import until

Steps = Sequence[Step[str, str]]


def in_a_list(_: Steps) -> list[str]:
    return ["a", "b"]


def one_by_one(_: Steps) -> Iterator[str]:
    yield from "ab"


async def asynchronously(_: Steps) -> AsyncIterator[str]:
    for room in "ab":
        yield room


@pytest.mark.parametrize("predict", [in_a_list, one_by_one, asynchronously])
async def test_what_it_names_is_guessed_in_order(predict: Callable[[Steps], list[str]]) -> None:
    predictor = FunctionPredictor(predict, name="rooms")
    guesses = [(guess.action, guess.predictor, guess.rank) async for guess in predictor.predict([])]
    assert guesses == [("a", "rooms", 1), ("b", "rooms", 2)]


async def test_a_generator_is_closed_with_the_guessing() -> None:
    closed = []

    async def predict(_: Steps) -> AsyncIterator[str]:
        try:
            yield "a"
            yield "b"
        finally:
            closed.append(True)

    async with aclosing(FunctionPredictor(predict).predict([])) as guesses:
        assert (await anext(guesses)).action == "a"
        assert not closed
    assert closed


async def test_an_environment_is_wrapped_with_it() -> None:
    events: list[Event] = []
    predictors = [FunctionPredictor(in_a_list)]
    async with aclosing(SpeculativeEnvironment(Maze(), predictors=predictors, listener=events.append)) as rooms:
        await rooms.step("start")
        await until(events, EventKind.LOAD, 2)
        assert await rooms.step("b") == "view of b"
    assert [event.kind for event in events].count(EventKind.HIT) == 1
