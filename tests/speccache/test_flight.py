"""Single flight: one task a key, alive as long as somebody waits."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from speccache.flight import Flights


class Work:
    """Counts how often it runs and how it ends; held back by an event."""

    def __init__(self, *, fails: bool = False) -> None:
        self.gate = asyncio.Event()
        self.started = asyncio.Event()
        self.runs = 0
        self.cancelled = 0
        self._fails = fails

    async def __call__(self) -> str:
        self.runs += 1
        self.started.set()
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self._fails:
            raise ValueError("broken")
        return "done"


async def test_joins_the_running_work() -> None:
    flights: Flights[str] = Flights()
    work = Work()
    first = asyncio.create_task(flights.run("k", work))
    await work.started.wait()
    second = asyncio.create_task(flights.run("k", work))
    work.gate.set()
    assert [await first, await second] == ["done", "done"]
    assert work.runs == 1
    assert len(flights) == 0


async def test_runs_again_after_the_end() -> None:
    flights: Flights[str] = Flights()
    work = Work()
    work.gate.set()
    await flights.run("k", work)
    await flights.run("k", work)
    assert work.runs == 2


async def test_every_waiter_gets_the_error() -> None:
    flights: Flights[str] = Flights()
    work = Work(fails=True)
    waiters = [asyncio.create_task(flights.run("k", work)) for _ in range(3)]
    await work.started.wait()
    work.gate.set()
    for waiter in waiters:
        with pytest.raises(ValueError, match="broken"):
            await waiter
    assert len(flights) == 0


async def test_a_cancelled_waiter_leaves_the_others() -> None:
    flights: Flights[str] = Flights()
    work = Work()
    first = asyncio.create_task(flights.run("k", work))
    await work.started.wait()
    second = asyncio.create_task(flights.run("k", work))
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    work.gate.set()
    assert await second == "done"
    assert work.cancelled == 0


async def test_the_last_waiter_cancels_the_work_and_waits_for_its_end() -> None:
    flights: Flights[str] = Flights()
    work = Work()
    waiter = asyncio.create_task(flights.run("k", work))
    await work.started.wait()
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    assert work.cancelled == 1
    assert repr(flights) == "<Flights running=0 waiters=0>"


async def test_counts_the_running_time() -> None:
    now = [5.0]
    flights: Flights[str] = Flights(clock=lambda: now[0])
    work = Work()
    waiter = asyncio.create_task(flights.run("k", work))
    await work.started.wait()
    now[0] = 7.5
    assert flights.running_seconds("k") == 2.5
    assert flights.running_seconds("other") == 0.0
    work.gate.set()
    await waiter


@settings(deadline=None, max_examples=60)
@given(
    plan=st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from(["join", "cancel", "finish"]), st.integers(0, 5)), max_size=25
    )
)
def test_random_cancellation_leaves_nothing(plan: list[tuple[str, str, int]]) -> None:
    async def scenario() -> None:
        flights: Flights[str] = Flights()
        works = {"a": Work(), "b": Work(fails=True)}
        waiters: list[asyncio.Task[str]] = []
        for key, deed, which in plan:
            if deed == "join":
                waiters.append(asyncio.create_task(flights.run(key, works[key])))
            elif deed == "cancel" and waiters:
                waiters[which % len(waiters)].cancel()
            elif deed == "finish":
                works[key].gate.set()
            await asyncio.sleep(0)
            assert len(flights) <= 2
        for waiter in waiters:
            waiter.cancel()
            with suppress(asyncio.CancelledError, ValueError):
                await waiter
        assert repr(flights) == "<Flights running=0 waiters=0>"

    asyncio.run(scenario())
