"""A second level: what is there is neither loaded nor stepped to, and a level that is slow or empty costs nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

import pytest

from speccache import Account, Event, EventKind, Found, Lifetime, SpeculativeEnvironment
from tests.speccache.maze import Maze, Script
from tests.speccache.progress import until


class Attic:
    """A second level in memory, whose answers can be held back."""

    def __init__(self, *rooms: str, patience_seconds: float = 60.0, remaining_seconds: float = 100.0) -> None:
        self.patience_seconds = patience_seconds
        self.remaining_seconds = remaining_seconds
        self.kept = {f"room {room}": f"view of {room}" for room in rooms}
        self.put_keys: list[Hashable] = []
        self.asked: list[Hashable] = []
        self.open = asyncio.Event()
        self.open.set()

    async def get(self, key: Hashable) -> Found[str] | None:
        self.asked.append(key)
        await self.open.wait()
        view = self.kept.get(str(key))
        return None if view is None else Found(value=view, remaining_seconds=self.remaining_seconds)

    def put(self, key: Hashable, value: str) -> None:
        self.put_keys.append(key)
        self.kept[str(key)] = value


def facts(events: list[Event], kind: EventKind) -> list[tuple[str, str]]:
    return [(event.action, event.reason) for event in events if event.kind is kind]


async def test_a_guess_that_is_there_is_not_loaded() -> None:
    maze, attic, events = Maze(), Attic("a"), list[Event]()
    environment = SpeculativeEnvironment(
        maze, predictors=[Script(["a", "b"])], second_level=attic, listener=events.append
    )
    await environment.step("start")
    await until(events, EventKind.LOAD, 2)
    assert maze.peeked == ["b"]
    assert facts(events, EventKind.LOAD) == [("a", "shelf"), ("b", "")]
    assert await environment.step("a") == "view of a"
    assert await environment.step("b") == "view of b"
    assert facts(events, EventKind.HIT) == [("a", "shelf"), ("b", "")]
    assert (maze.room, maze.entered) == ("b", ["start"])
    await environment.aclose()


async def test_what_the_target_wants_is_looked_for_before_it_is_made() -> None:
    maze, attic, events = Maze(), Attic("a"), list[Event]()
    environment = SpeculativeEnvironment(maze, second_level=attic, listener=events.append)
    assert [await environment.step(room) for room in ("a", "b", "a")] == ["view of a", "view of b", "view of a"]
    assert maze.entered == ["b"]
    assert facts(events, EventKind.HIT) == [("a", "shelf"), ("a", "shelf")]
    assert facts(events, EventKind.MISS) == [("b", "")]
    assert attic.asked == ["room a", "room b"], "what is in memory is not looked for again"
    account = Account()
    for event in events:
        account(event)
    assert (account.hits, account.misses, account.hidden_seconds) == (2, 1, 0.0)
    await environment.aclose()


async def test_what_was_made_is_put_there_once() -> None:
    maze, attic, events = Maze(), Attic("a"), list[Event]()
    environment = SpeculativeEnvironment(
        maze, predictors=[Script(["a", "b"])], second_level=attic, listener=events.append
    )
    await environment.step("start")
    await until(events, EventKind.LOAD, 2)
    for room in ("a", "b", "look", "start"):
        await environment.step(room)
    assert attic.put_keys == ["room start", "room b"]
    await environment.aclose()


@pytest.mark.parametrize("lifetime", [Lifetime(single_use=True), Lifetime(max_age_seconds=0.0)])
async def test_what_must_not_be_used_again_is_not_put_there(lifetime: Lifetime) -> None:
    attic = Attic()
    environment = SpeculativeEnvironment(Maze(), second_level=attic, lifetime_of=lambda _: lifetime)
    await environment.step("a")
    assert attic.put_keys == []
    await environment.aclose()


async def test_a_level_that_does_not_answer_is_not_waited_for() -> None:
    maze, attic, events = Maze(), Attic("a", "b", patience_seconds=0.001), list[Event]()
    attic.open.clear()
    environment = SpeculativeEnvironment(maze, predictors=[Script(["b"])], second_level=attic, listener=events.append)
    assert await environment.step("a") == "view of a"
    await until(events, EventKind.LOAD)
    assert (maze.entered, maze.peeked) == (["a"], ["b"])
    await environment.aclose()


async def test_what_comes_from_there_is_used_for_the_time_that_is_left() -> None:
    now = [0.0]
    maze, attic = Maze(), Attic("a", remaining_seconds=10.0)
    environment = SpeculativeEnvironment(maze, second_level=attic, clock=lambda: now[0])
    await environment.step("a")
    attic.kept.clear()
    now[0] = 9.0
    await environment.step("a")
    assert maze.entered == []
    now[0] = 10.0
    await environment.step("a")
    assert maze.entered == ["a"]
    await environment.aclose()


async def test_a_lookup_under_way_is_joined() -> None:
    maze, attic, events = Maze(), Attic("a"), list[Event]()
    environment = SpeculativeEnvironment(maze, predictors=[Script(["a"])], second_level=attic, listener=events.append)
    await environment.step("start")
    attic.open.clear()
    await until(events, EventKind.LAUNCH)
    while "room a" not in attic.asked:
        await asyncio.sleep(0)
    step = asyncio.create_task(environment.step("a"))
    await asyncio.sleep(0)
    attic.open.set()
    assert await step == "view of a"
    assert facts(events, EventKind.JOIN) == [("a", "shelf")]
    assert attic.asked.count("room a") == 1
    assert maze.entered == ["start"]
    await environment.aclose()


async def test_a_cancelled_lookup_leaves_nothing_behind() -> None:
    maze, attic = Maze(), Attic("a")
    attic.open.clear()
    environment = SpeculativeEnvironment(maze, predictors=[Script(["b"])], second_level=attic)
    step = asyncio.create_task(environment.step("a"))
    while not attic.asked:
        await asyncio.sleep(0)
    step.cancel()
    with pytest.raises(asyncio.CancelledError):
        await step
    assert "held=0" in repr(environment)
    attic.open.set()
    await environment.step("start")
    attic.open.clear()
    while "room b" not in attic.asked:
        await asyncio.sleep(0)
    await environment.aclose()
    assert "running=0 waiters=0" in repr(environment)
    assert maze.peeked == []


async def test_a_place_left_meanwhile_is_not_looked_at() -> None:
    class Turning(Maze):
        """The view depends on the room one stands in, and so does the key."""

        def key(self, action: str) -> str | None:
            return f"{action} from {self.room}"

    maze, attic, events = Turning(), Attic(), list[Event]()
    environment = SpeculativeEnvironment(maze, predictors=[Script(["a"])], second_level=attic, listener=events.append)
    await environment.step("start")
    attic.open.clear()
    await until(events, EventKind.LAUNCH)
    maze.room = "elsewhere"
    attic.open.set()
    await until(events, EventKind.REFUSE)
    assert facts(events, EventKind.REFUSE) == [("a", "moved-on")]
    assert maze.peeked == []
    await environment.aclose()
