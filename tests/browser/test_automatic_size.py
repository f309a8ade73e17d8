"""A pool's size follows its figures: by a hand-ticked clock, and on a real pool."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

import pytest

from browser.action import Visit
from browser.environment import WebEnvironment
from browser.pool import BrowserPool, PoolOptions
from browser.slots.automatic_size import AutomaticSize, Regulator, RegulatorOptions, Resized
from browser.slots.pressure import Pressure, PressureLimits
from browser.slots.sizing import Figures
from tests.website import Website

MEBIBYTE = 2**20
CALM = Figures(slots=4, wanted=4, page_bytes=40 * MEBIBYTE, memory_bytes=4096 * MEBIBYTE, cores=2)


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


class Pool:
    """The slots of a pool that is told to change, and a regulator that tells it."""

    def __init__(self, *, slots: int = 2) -> None:
        self.clock = Clock()
        self.slots = slots
        self._regulator = Regulator(clock=self.clock)

    def meet(self, *, seconds: float, wanted: int, pressure: str | None = None) -> list[tuple[int, int]]:
        """Let the same figures last for a while, looked at twice a second; return the changes."""
        found: list[Resized] = []
        for _ in range(int(seconds * 2)):
            self.clock.now += 0.5
            figures = replace(CALM, slots=self.slots, wanted=wanted, pressure=pressure)
            if (resized := self._regulator.decide(figures)) is not None:
                self.slots = resized.after
                found.append(resized)
        return [(resized.before, resized.after) for resized in found]


def test_slots_that_stay_too_few_grow_one_by_one() -> None:
    pool = Pool()
    assert pool.meet(seconds=1, wanted=5) == []
    assert pool.meet(seconds=9, wanted=5) == [(2, 3), (3, 4), (4, 5)]


def test_idle_slots_stay() -> None:
    assert Pool(slots=6).meet(seconds=60, wanted=0) == []


@pytest.mark.parametrize("wanted", [0, 8, 20])
def test_pressure_halves_the_slots_until_one_is_left(wanted: int) -> None:
    assert Pool(slots=8).meet(seconds=20, wanted=wanted, pressure="cpu") == [(8, 4), (4, 2), (2, 1)]


def test_one_bad_moment_changes_nothing() -> None:
    pool = Pool(slots=4)
    for _ in range(10):
        assert pool.meet(seconds=0.5, wanted=4, pressure="loop-lag") == []
        assert pool.meet(seconds=0.5, wanted=9) == []


def test_after_pressure_it_stays_calm_for_a_while() -> None:
    pool = Pool(slots=4)
    assert pool.meet(seconds=1.5, wanted=4, pressure="cpu") == [(4, 2)]
    assert pool.meet(seconds=55, wanted=8) == []
    assert pool.meet(seconds=6, wanted=8) == [(2, 3)]


def test_it_does_not_flap_under_load_that_comes_and_goes() -> None:
    pool = Pool(slots=4)
    changes = []
    for _ in range(5):
        changes += pool.meet(seconds=5, wanted=8)
        changes += pool.meet(seconds=5, wanted=8, pressure="cpu")
    assert changes == [(4, 5), (5, 6), (6, 7), (7, 3), (3, 1)]


def test_a_change_tells_its_reason() -> None:
    clock = Clock()
    regulator = Regulator(clock=clock)
    regulator.decide(replace(CALM, wanted=7))
    clock.now += 2
    resized = regulator.decide(replace(CALM, wanted=7))
    assert str(resized) == "4 → 5 slots: 7 pages are to load ahead at once"


PATHS = ("/a", "/b", "/c")
PAGES = {"/": "".join(f"<a href='{path}'>page {path}</a>" for path in PATHS)} | dict.fromkeys(PATHS, "<p>text</p>")
QUICK = RegulatorOptions(sample_seconds=0.01, grow_seconds=0.0, shrink_seconds=0.0)


async def test_a_real_pool_grows_while_pages_wait_and_shrinks_under_pressure() -> None:
    changes: asyncio.Queue[Resized] = asyncio.Queue()
    async with Website(PAGES) as site, BrowserPool(PoolOptions(speculation_slots=1)) as pool:
        gates = [site.shut(path) for path in PATHS]
        web = WebEnvironment(pool, named_hosts={"127.0.0.1"})
        await web.step(Visit(site.url + "/"))
        visits = [Visit(site.url + path) for path in PATHS]
        await site.arrived("/robots.txt")
        while web.refusal(visits[0]) is not None:  # until its answer is read
            await asyncio.sleep(0)
        pool.pressure = Pressure()  # it has measured nothing: what else this machine does is not what is tested
        async with AutomaticSize(pool, QUICK, listener=changes.put_nowait) as size, asyncio.TaskGroup() as group:
            loads = [group.create_task(web.peek(visit)) for visit in visits]
            first, second = await changes.get(), await changes.get()
            assert [(change.before, change.after, change.limit) for change in (first, second)] == [
                (1, 2, "demand"),
                (2, 3, "demand"),
            ]
            for path in PATHS:
                await site.arrived(path)  # all at once: none of them has been answered
            for gate in gates:
                gate.set()
            await asyncio.wait(loads)
            pool.pressure = Pressure(PressureLimits(cpu_share=-1.0))
            third = await changes.get()
            assert (third.before, third.after, third.limit, size.slots) == (3, 1, "pressure", 1)
            assert "cpu" in third.reason
        assert pool.statistics().idle + pool.statistics().leased <= 1
        await web.aclose()
