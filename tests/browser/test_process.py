"""A browser process: one launch at a time, and whoever is cancelled leaves neither a count nor a Chromium behind."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from playwright.async_api import Error as PlaywrightError

from browser.engine.driver import Driver
from browser.engine.probe import passing_driver
from browser.engine.process import BrowserProcess, LaunchOptions
from browser.engine.recycling import Wear
from browser.engine.running_browser import RunningBrowser
from browser.errors import LaunchFailed, PoolClosed, SlotCrashed
from browser.session.identity import Identity
from tests.browser.cancellation import cancelled_everywhere
from tests.processes import browsers

OPTIONS = LaunchOptions(close_seconds=1.0)


class FakeBrowser:
    """Answers each call at the second turn of the event loop, as it is told to."""

    def __init__(self) -> None:
        self.fails = False
        self.closed = 0

    def is_connected(self) -> bool:
        return True

    async def new_context(self, **_: Any) -> object:
        await asyncio.sleep(0)
        if self.fails:
            raise PlaywrightError("Target closed")
        return object()

    async def new_browser_cdp_session(self) -> Any:
        await asyncio.sleep(0)
        raise PlaywrightError("Target closed")

    async def close(self) -> None:
        self.closed += 1


class FakeDriver:
    """Always runs."""

    alive = True

    async def running(self) -> FakeDriver:
        await asyncio.sleep(0)
        return self

    async def check(self) -> None:
        await asyncio.sleep(0)


class Bench:
    """A process whose launches end when the gate is open."""

    def __init__(self) -> None:
        self.launched: list[RunningBrowser] = []
        self.failure: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()
        self.process = BrowserProcess(cast(Driver, FakeDriver()), options=OPTIONS, opener=self._launch)

    async def _launch(self, driver: Any, **_: Any) -> RunningBrowser:
        await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        home = RunningBrowser(browser=cast(Any, FakeBrowser()), driver=driver, main=None, wear=Wear(since_seconds=0.0))
        self.launched.append(home)
        return home

    async def context(self) -> Any:
        return await self.process.new_context(Identity(), headers={})

    async def use(self) -> None:
        self.process.leave(await self.context())

    @property
    def slots(self) -> list[int]:
        return [home.slots for home in self.launched]


@pytest.mark.parametrize(("fails", "least_waits"), [(False, 2), (True, 4)])
async def test_cancelled_at_any_await_no_slot_is_counted(fails: bool, least_waits: int) -> None:
    benches: list[Bench] = []

    async def work() -> None:
        benches.append(a := Bench())
        await a.process.start()
        a.launched[0].browser.fails = fails
        if fails:
            with pytest.raises(SlotCrashed):
                await a.context()
        else:
            await a.use()

    assert len([wait async for wait in cancelled_everywhere(work)]) >= least_waits
    for a in benches:
        assert set(a.slots) <= {0}
        await a.process.aclose()
        assert [home.browser.closed for home in a.launched] == [1] * len(a.launched)


async def test_a_launch_outlives_whoever_began_it_and_serves_the_next() -> None:
    a = Bench()
    a.gate.clear()
    first, second = (asyncio.create_task(a.context()) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait([first])
    a.gate.set()
    a.process.leave(await second)
    await a.use()
    assert (len(a.launched), a.process.launches, a.slots) == (1, 1, [0])
    await a.process.aclose()


async def test_all_that_wait_for_a_launch_learn_why_it_failed_and_the_next_tries_again() -> None:
    a = Bench()
    a.gate.clear()
    a.failure = LaunchFailed("it does not start")
    waiting = [asyncio.create_task(a.context()) for _ in range(3)]
    await asyncio.sleep(0)
    a.gate.set()
    await asyncio.wait(waiting)
    assert [str(task.exception()) for task in waiting] == ["it does not start"] * 3
    a.failure = None
    await a.use()
    assert len(a.launched) == 1
    await a.process.aclose()


async def test_closing_waits_for_no_launch() -> None:
    a = Bench()
    a.gate.clear()
    waiting = asyncio.create_task(a.context())
    await asyncio.sleep(0)
    await a.process.aclose()
    await a.process.aclose()
    with pytest.raises(PoolClosed):
        await waiting
    assert a.launched == []


async def test_a_chromium_whose_launch_is_given_up_ends_while_its_driver_lives() -> None:
    others = browsers()
    async with passing_driver(timeout_seconds=30) as driver:
        process = BrowserProcess(driver, options=LaunchOptions())
        starting = asyncio.create_task(process.start())
        while not browsers() - others:
            await asyncio.sleep(0)
        starting.cancel()
        await asyncio.wait([starting])
        await process.aclose()
        assert browsers() == others
