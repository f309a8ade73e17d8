"""Whether there is memory for one more page."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, field

import psutil
import pytest

from browser.engine.machine import PAGE_BYTES
from browser.engine.recycling import Wear
from browser.slots.memory_budget import MemoryBudget, pss_bytes

PAGE_MIB = PAGE_BYTES // 2**20


@dataclass
class Program:
    """A process group in a browser's place."""

    main: psutil.Process
    wear: Wear = field(default_factory=lambda: Wear(since_seconds=0.0))


def test_pages_count_from_the_moment_they_are_to_be_opened() -> None:
    budget = MemoryBudget(max_mib=2 * PAGE_MIB, browsers=list)
    for _ in range(2):
        assert budget.has_room()
        budget.opened()
    assert not budget.has_room()
    budget.closed()
    assert budget.has_room()


def test_without_a_limit_what_is_free_decides() -> None:
    assert MemoryBudget(max_mib=None, browsers=list).has_room()


@pytest.mark.skipif(sys.platform != "linux", reason="PSS is the Linux kernel's")
async def test_what_is_measured_takes_the_place_of_what_was_supposed() -> None:
    program = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", start_new_session=True, stdin=-1)
    measured = asyncio.Event()
    home = Program(psutil.Process(program.pid))
    budget = MemoryBudget(max_mib=PAGE_MIB + 200, browsers=lambda: [home], changed=measured.set, sample_seconds=60.0)
    for _ in range(9):
        budget.opened()
    assert not budget.has_room()
    budget.start()
    await measured.wait()
    assert budget.has_room()
    assert 0 < home.wear.size_bytes == budget.measured_bytes < 200 * 2**20
    await budget.aclose()
    await budget.aclose()
    assert budget.measured_bytes == 0
    await program.communicate(b"\n")
    assert pss_bytes(program.pid) == 0


async def test_it_is_looked_at_now_and_then() -> None:
    seconds, looks = [0.0], []
    budget = MemoryBudget(
        max_mib=None,
        browsers=list,
        changed=lambda: looks.append(seconds[0]),
        look_seconds=30.0,
        clock=lambda: seconds[0],
    )
    budget.look()
    for now in (29.0, 30.0, 45.0, 61.0):
        seconds[0] = now
        budget.look()
        for _ in range(5):
            await asyncio.sleep(0)
    assert looks == [30.0, 61.0]
    await budget.aclose()


@pytest.mark.skipif(sys.platform != "linux", reason="PSS is the Linux kernel's")
async def test_measured_twice_side_by_side_a_page_is_taken_off_once() -> None:
    program = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", start_new_session=True, stdin=-1)
    home = Program(psutil.Process(program.pid))
    budget = MemoryBudget(max_mib=PAGE_MIB, browsers=lambda: [home])
    budget.opened()
    async with asyncio.TaskGroup() as group:
        for _ in range(2):
            group.create_task(budget.measure())
    budget.opened()
    assert not budget.has_room()
    await program.communicate(b"\n")
