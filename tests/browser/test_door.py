"""Which machines may use a proxy that others can reach."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from browser.egress.door import Door


class Names:
    """A name service of paper, which fails for the names it does not have, and answers when its gate is open."""

    def __init__(self, **addresses: str) -> None:
        self.addresses = addresses
        self.asked = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.seconds = 0.0

    async def resolve(self, host: str) -> Sequence[str]:
        self.asked += 1
        await self.gate.wait()
        if host not in self.addresses:
            raise OSError("temporary failure in name resolution")
        return [self.addresses[host]]

    def door(self, *hosts: str) -> Door:
        return Door(hosts, resolve=self.resolve, clock=lambda: self.seconds)


async def test_machines_that_move_are_found_again_and_not_looked_for_all_the_time() -> None:
    names = Names(one="192.0.2.1")
    door = names.door("one")
    assert await door.admits("192.0.2.1")
    assert await door.admits("::ffff:192.0.2.1")
    names.addresses["one"] = "192.0.2.2"
    assert not await door.admits("192.0.2.2"), "it was asked just now"
    assert names.asked == 1
    names.seconds += 5
    assert await door.admits("192.0.2.2")
    assert not await door.admits("192.0.2.1"), "the name stands for another machine"


async def test_a_failed_look_up_forgets_nobody() -> None:
    names = Names(one="192.0.2.1", two="192.0.2.2")
    door = names.door("one", "two")
    assert await door.admits("192.0.2.1")
    names.seconds += 5
    del names.addresses["one"]
    names.addresses["two"] = "192.0.2.3"
    assert not await door.admits("192.0.2.9")
    assert names.asked == 4
    admitted = [address for address in ("192.0.2.1", "192.0.2.2", "192.0.2.3") if await door.admits(address)]
    assert admitted == ["192.0.2.1", "192.0.2.3"]


async def test_a_look_up_that_is_broken_off_counts_for_nothing() -> None:
    names = Names(one="192.0.2.1")
    names.gate.clear()
    door = names.door("one")
    asking = asyncio.create_task(door.admits("192.0.2.1"))
    while names.asked == 0:
        await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait([asking])
    names.gate.set()
    assert await door.admits("192.0.2.1")


async def test_names_in_other_alphabets_are_looked_up_as_the_name_service_writes_them() -> None:
    names = Names(**{"xn--bcher-kva.example": "192.0.2.1"})
    assert await names.door("bücher.example").admits("192.0.2.1")
