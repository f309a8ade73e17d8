"""An environment made from one read function."""

from __future__ import annotations

import asyncio

import pytest

from speccache import Unspeculable
from speccache.read_environment import ReadEnvironment
from tests.conformance import check_law


class Shelf:
    """Numbered boxes with a text each; "put 3" changes a box, and a box can be held shut while it is read."""

    def __init__(self) -> None:
        self.version = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.reading = 0
        self.closed = 0

    def key(self, action: str) -> str | None:
        return None if action.startswith("put") else f"{action} at {self.version}"

    async def read(self, action: str) -> str:
        self.reading += 1
        try:
            await self.gate.wait()
            return f"{action} says {self.version}"
        finally:
            self.reading -= 1

    async def write(self, action: str) -> str:
        self.version += 1
        return f"{action} done"

    async def close(self) -> None:
        self.closed += 1

    def environment(self) -> ReadEnvironment[str, str]:
        return ReadEnvironment(
            self.read,
            key=self.key,
            write=self.write,
            refuse=lambda seen: "empty" if seen.startswith("empty") else None,
            close=self.close,
        )


async def test_it_keeps_the_law() -> None:
    async def fresh() -> ReadEnvironment[str, str]:
        return Shelf().environment()

    await check_law(fresh, first="box 1", then=["box 2", "put 3", "box 1", "box 1"])


async def test_an_action_with_effects_is_never_peeked_at() -> None:
    shelf = Shelf()
    with pytest.raises(Unspeculable, match="no-key"):
        await shelf.environment().peek("put 3")
    assert shelf.version == 0


async def test_what_changed_while_it_was_read_is_not_kept() -> None:
    shelf = Shelf()
    environment = shelf.environment()
    shelf.gate.clear()
    peek = asyncio.create_task(environment.peek("box 1"))
    while not shelf.reading:
        await asyncio.sleep(0)
    await environment.step("put 3")
    shelf.gate.set()
    with pytest.raises(Unspeculable, match="changed"):
        await peek


async def test_what_is_refused_is_seen_by_a_step_and_not_by_a_peek() -> None:
    environment = Shelf().environment()
    assert await environment.step("empty") == "empty says 0"
    with pytest.raises(Unspeculable, match="empty"):
        await environment.peek("empty")


async def test_without_a_write_function_it_says_what_is_missing() -> None:
    shelf = Shelf()
    environment = ReadEnvironment(shelf.read, key=shelf.key)
    assert await environment.step("box 1") == "box 1 says 0"
    with pytest.raises(TypeError, match=r"put 3 is no read.*pass `write`"):
        await environment.step("put 3")
    await environment.aclose()


async def test_cancellation_reaches_the_function() -> None:
    shelf = Shelf()
    environment = shelf.environment()
    shelf.gate.clear()
    for act in (environment.peek, environment.step):
        task = asyncio.create_task(act("box 1"))
        while not shelf.reading:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert shelf.reading == 0


async def test_it_closes_once() -> None:
    shelf = Shelf()
    environment = shelf.environment()
    await environment.aclose()
    await environment.aclose()
    assert shelf.closed == 1
