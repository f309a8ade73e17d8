"""A small real environment without any web: rooms with doors, whose views can be held back by the test."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence

from speccache.environment import Step
from speccache.errors import Unspeculable
from speccache.predictor import Guess


class Maze:
    """Rooms are strings, an action names the room to enter; `look` sees nothing new and has no key."""

    def __init__(self) -> None:
        self.room = "start"
        self.gates: dict[str, asyncio.Event] = {}
        self.entered: list[str] = []
        self.peeked: list[str] = []
        self.peeking: Counter[str] = Counter()
        self.started = asyncio.Condition()
        self.broken: dict[str, Exception] = {}
        self.closed = 0

    def shut(self, room: str) -> asyncio.Event:
        """Hold back every view of a room until the returned event is set."""
        return self.gates.setdefault(room, asyncio.Event())

    def key(self, action: str) -> str | None:
        return None if action == "look" else f"room {action}"

    async def step(self, action: str) -> str:
        if action != "look":
            self.entered.append(action)
            self.room = action
            await self._wait(action)
        return self._view()

    async def peek(self, action: str) -> str:
        self.peeked.append(action)
        self.peeking[action] += 1
        try:
            async with self.started:
                self.started.notify_all()
            await self._wait(action)
            if action in self.broken:
                raise self.broken[action]
            return f"view of {action}"
        finally:
            self.peeking[action] -= 1

    async def adopt(self, action: str, observation: str) -> str:
        assert observation == f"view of {action}"
        self.room = action
        return observation

    async def until_peeking(self, *rooms: str) -> None:
        """Wait until peeks at all these rooms are running."""
        async with self.started:
            await self.started.wait_for(lambda: all(self.peeking[room] for room in rooms))

    async def _wait(self, room: str) -> None:
        if room in self.gates:
            await self.gates[room].wait()

    def _view(self) -> str:
        return f"view of {self.room}"

    async def aclose(self) -> None:
        self.closed += 1


class Script:
    """A predictor that names the rooms it was told, turn by turn."""

    name = "script"

    def __init__(self, *turns: Sequence[str] | Exception) -> None:
        self._turns = turns
        self.closed = 0

    async def predict(self, trajectory: Sequence[Step[str, str]]) -> AsyncIterator[Guess[str]]:
        turn = self._turns[len(trajectory) - 1] if len(trajectory) <= len(self._turns) else ()
        if isinstance(turn, Exception):
            raise turn
        try:
            for rank, room in enumerate(turn, start=1):
                yield Guess(action=room, predictor=self.name, rank=rank, score=1 / rank)
        finally:
            self.closed += 1


__all__ = ["Maze", "Script", "Unspeculable"]
