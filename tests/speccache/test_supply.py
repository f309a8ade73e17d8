"""A level that workers share: each observation is made by one of them, and nobody waits longer than agreed."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

import pytest

from speccache import Event, EventKind, Found, Lifetime, SharedLevel, SpeculativeEnvironment
from tests.speccache.maze import Maze, Script
from tests.speccache.progress import until


class Hall:
    """A shared level in memory; the rooms in `theirs` are being looked at by another worker."""

    def __init__(self, *theirs: str, target_seconds: float = 60.0, ahead_seconds: float = 60.0) -> None:
        self.target_seconds = target_seconds
        self.ahead_seconds = ahead_seconds
        self.theirs = {f"room {room}": asyncio.Event() for room in theirs}
        self.kept: dict[Hashable, str] = {}
        self.claimed: list[Hashable] = []
        self.done: list[tuple[str, Hashable]] = []

    async def claim(self, key: Hashable) -> Found[str] | None:
        self.claimed.append(key)
        if key in self.theirs:
            await self.theirs[str(key)].wait()
        view = self.kept.get(key)
        return None if view is None else Found(value=view, remaining_seconds=100.0, level="hall")

    def put(self, key: Hashable, value: str) -> None:
        self.kept[key] = value
        self.done.append(("put", key))

    def decline(self, key: Hashable) -> None:
        self.done.append(("decline", key))

    def release(self, key: Hashable) -> None:
        self.done.append(("release", key))


def facts(events: list[Event], kind: EventKind) -> list[tuple[str, str]]:
    return [(event.action, event.reason) for event in events if event.kind is kind]


async def until_claimed(hall: Hall, key: str) -> None:
    while key not in hall.claimed:
        await asyncio.sleep(0)


def test_the_fake_keeps_the_protocol() -> None:
    assert isinstance(Hall(), SharedLevel)


async def test_what_was_made_is_put_there_before_others_are_let_in() -> None:
    maze, hall, events = Maze(), Hall(), list[Event]()
    environment = SpeculativeEnvironment(maze, predictors=[Script(["a"])], second_level=hall, listener=events.append)
    await environment.step("start")
    await until(events, EventKind.LOAD)
    kept = [("put", "room start"), ("release", "room start"), ("put", "room a"), ("release", "room a")]
    assert hall.done == kept
    assert await environment.step("a") == "view of a"
    assert hall.done == kept
    await environment.aclose()


async def test_what_another_worker_makes_is_waited_for_and_not_made() -> None:
    maze, hall, events = Maze(), Hall("a", "b"), list[Event]()
    environment = SpeculativeEnvironment(maze, predictors=[Script(["a"])], second_level=hall, listener=events.append)
    await environment.step("start")
    await until_claimed(hall, "room a")
    hall.kept |= {"room a": "view of a", "room b": "view of b"}
    hall.theirs["room a"].set()
    await until(events, EventKind.LOAD)
    step = asyncio.create_task(environment.step("b"))
    await until_claimed(hall, "room b")
    hall.theirs["room b"].set()
    assert await step == "view of b"
    assert (maze.peeked, maze.entered, maze.room) == ([], ["start"], "b")
    assert facts(events, EventKind.LOAD) == [("a", "hall")]
    assert facts(events, EventKind.HIT) == [("b", "hall")]
    assert await environment.step("a") == "view of a"
    assert facts(events, EventKind.HIT)[-1] == ("a", "hall")
    await environment.aclose()


async def test_nobody_need_wait_for_what_is_not_kept() -> None:
    lifetimes = {"view of a": Lifetime(single_use=True), "view of b": Lifetime(max_age_seconds=0.0)}
    hall = Hall()
    environment = SpeculativeEnvironment(Maze(), second_level=hall, lifetime_of=lifetimes.__getitem__)
    for room in ("a", "b"):
        await environment.step(room)
        assert hall.done[-2:] == [("decline", f"room {room}"), ("release", f"room {room}")]
    assert hall.kept == {}
    await environment.aclose()


async def test_the_target_makes_it_itself_where_the_other_is_slow() -> None:
    maze, hall = Maze(), Hall("a", target_seconds=0.001)
    environment = SpeculativeEnvironment(maze, second_level=hall)
    assert await environment.step("a") == "view of a"
    assert maze.entered == ["a"]
    assert hall.done == [("put", "room a"), ("release", "room a")]
    await environment.aclose()


async def test_a_speculation_that_waits_hurries_once_the_target_joins_it() -> None:
    maze, hall, events = Maze(), Hall("a", target_seconds=0.001), list[Event]()
    environment = SpeculativeEnvironment(maze, predictors=[Script(["a"])], second_level=hall, listener=events.append)
    await environment.step("start")
    await until_claimed(hall, "room a")
    assert await environment.step("a") == "view of a"
    assert facts(events, EventKind.JOIN) == [("a", "")]
    assert (maze.peeked, hall.claimed.count("room a")) == (["a"], 1)
    await environment.aclose()


async def test_a_cancelled_wait_and_a_failed_load_let_others_in() -> None:
    maze, hall, events = Maze(), Hall("b"), list[Event]()
    maze.broken["a"] = ValueError("no such room")
    environment = SpeculativeEnvironment(maze, predictors=[Script(["a"])], second_level=hall, listener=events.append)
    await environment.step("start")
    await until(events, EventKind.FAIL)
    step = asyncio.create_task(environment.step("b"))
    await until_claimed(hall, "room b")
    step.cancel()
    with pytest.raises(asyncio.CancelledError):
        await step
    assert hall.done[-2:] == [("release", "room a"), ("release", "room b")]
    assert "held=0" in repr(environment)
    assert "running=0 waiters=0" in repr(environment)
    await environment.aclose()
