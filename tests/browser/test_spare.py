"""The slot that stands ready: whoever is cancelled while taking it, what is open stays counted."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, cast

from browser.errors import SlotCrashed
from browser.slots.right_of_way import RightOfWay
from browser.slots.slot import Slot
from browser.slots.spare import Spare


@dataclass(eq=False)
class PaperSlot:
    reusable: bool = True


class CountingMemory:
    """Room without end, and a count of what is open."""

    def __init__(self) -> None:
        self.open = 0

    def has_room(self) -> bool:
        return True

    def opened(self) -> None:
        self.open += 1

    def closed(self) -> None:
        self.open -= 1


class Bench:
    """A spare whose slots open when the gate does."""

    def __init__(self) -> None:
        self.memory = CountingMemory()
        self.gate = asyncio.Event()
        self.dropped: list[Slot] = []
        self.opens: Any = PaperSlot
        way = RightOfWay()
        self.spare = Spare(
            self._open, drop=self.dropped.append, right_of_way=way, memory=self.memory, quiet_seconds=0.0
        )

    async def _open(self) -> Slot:
        await self.gate.wait()
        return cast(Slot, self.opens())

    def taking(self) -> asyncio.Task[Slot | None]:
        return asyncio.create_task(self.spare.take())


async def cancelled(taking: asyncio.Task[Slot | None]) -> None:
    await asyncio.sleep(0)
    taking.cancel()
    await asyncio.wait([taking])


async def test_the_room_of_one_that_is_taken_is_the_takers() -> None:
    a = Bench()
    a.spare.prepare()
    a.gate.set()
    assert await a.spare.take() is not None
    assert (a.memory.open, a.spare.ready) == (1, False)
    assert await a.spare.take() is None
    assert a.memory.open == 2, "the taker opens one in its place"


async def test_one_that_could_not_be_opened_is_opened_by_the_taker() -> None:
    a = Bench()

    def refuse() -> None:
        raise SlotCrashed("it died")

    for a.opens in (refuse, lambda: PaperSlot(reusable=False)):
        a.spare.prepare()
        a.gate.set()
        assert await a.spare.take() is None
        assert a.memory.open == 1
        a.memory.closed()
    assert len(a.dropped) == 1, "the one that takes no more work is closed"
    await a.spare.aclose()


async def test_a_cancelled_taker_leaves_it_to_the_next() -> None:
    a = Bench()
    a.spare.prepare()
    await cancelled(a.taking())
    a.memory.closed()  # as a taker does, whatever came
    assert (a.memory.open, a.spare.ready) == (1, True)
    a.gate.set()
    assert await a.spare.take() is not None
    assert (a.memory.open, a.dropped) == (1, [])


async def test_one_that_a_cancelled_taker_leaves_beside_another_is_closed() -> None:
    a = Bench()
    a.spare.prepare()
    taking = a.taking()
    await asyncio.sleep(0)
    a.spare.prepare()
    await cancelled(taking)
    a.memory.closed()
    assert a.memory.open == 2
    a.gate.set()
    while not a.dropped:
        await asyncio.sleep(0)
    assert a.memory.open == 1
    await a.spare.aclose()
    assert (a.memory.open, len(a.dropped)) == (0, 2)
