"""What tests need to watch what happens behind the calls to models."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from agent.events import Call, CallKind
from agent.models.call_log import CallLog


@dataclass(slots=True)
class Heard:
    """A listener that remembers."""

    calls: list[Call] = field(default_factory=list)

    def log(self, *, role: str = "target", model: str = "scripted") -> CallLog:
        """A log whose events are remembered here."""
        return CallLog(self.calls.append, role=role, model=model)

    @property
    def kinds(self) -> list[CallKind]:
        """What happened, in order."""
        return [call.kind for call in self.calls]

    def one(self, kind: CallKind) -> Call:
        """The only event of a kind."""
        (call,) = [call for call in self.calls if call.kind is kind]
        return call


class Sleeps:
    """A sleep that lasts until it is let go, and remembers for how long it was asked to last."""

    def __init__(self, *, over: bool = False) -> None:
        self.asked: list[float] = []
        self.begun = asyncio.Event()
        self._over = asyncio.Event()
        if over:
            self._over.set()

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)
        self.begun.set()
        await self._over.wait()

    def end(self) -> None:
        """Let all sleepers go, now and later."""
        self._over.set()
