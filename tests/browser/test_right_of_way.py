"""Real loads go first, for a moment."""

from __future__ import annotations

import asyncio

from browser.slots.right_of_way import RightOfWay


async def test_whoever_waits_goes_when_the_last_holder_is_done() -> None:
    way = RightOfWay(patience_seconds=60)
    await way.wait()
    with way.held():
        with way.held():
            waiting = asyncio.create_task(way.wait())
        await asyncio.sleep(0)
        assert not waiting.done()
        assert repr(way) == "<RightOfWay holders=1>"
    await waiting


async def test_nobody_waits_longer_than_the_patience() -> None:
    way = RightOfWay(patience_seconds=0.0)
    with way.held():
        await way.wait()


async def test_a_cancelled_wait_leaves_nothing() -> None:
    way = RightOfWay(patience_seconds=60)
    with way.held():
        waiting = asyncio.create_task(way.wait())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        assert waiting.cancelled()


async def test_quiet_begins_anew_with_each_hold() -> None:
    way = RightOfWay()
    with way.held():
        waiting = asyncio.create_task(way.wait_for_quiet(seconds=0.0))
        await asyncio.sleep(0)
        assert not waiting.done()
    with way.held():
        for _ in range(3):
            await asyncio.sleep(0)
        assert not waiting.done(), "another real load came before it had been quiet"
    await waiting
