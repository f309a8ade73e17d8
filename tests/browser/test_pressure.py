"""Whether the machine has room for work that nobody has asked for yet."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest

from browser.slots.pressure import Pressure, PressureLimits

SPIN = "while True: pass"


async def sampled(pressure: Pressure, *, until_reason: str | None, seconds: float = 20.0) -> str | None:
    """Wait until the pressure gives this reason."""
    async with asyncio.timeout(seconds):
        while pressure.reason() != until_reason or pressure.memory_share == 0.0:
            await asyncio.sleep(0)
    return pressure.reason()


async def test_nothing_is_known_to_be_short_before_anything_was_measured() -> None:
    assert Pressure().reason() is None


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (PressureLimits(loop_lag_seconds=-1.0, sample_seconds=0.01), "loop-lag"),
        (PressureLimits(loop_lag_seconds=9.0, cpu_share=-1.0, sample_seconds=0.01), "cpu"),
        (PressureLimits(loop_lag_seconds=9.0, cpu_share=2.0, memory_share=0.0, sample_seconds=0.01), "memory"),
        (PressureLimits(loop_lag_seconds=9.0, cpu_share=2.0, memory_share=2.0, sample_seconds=0.01), None),
    ],
)
async def test_each_limit_has_its_reason(limits: PressureLimits, reason: str | None) -> None:
    pressure = Pressure(limits)
    pressure.start()
    pressure.start()
    assert await sampled(pressure, until_reason=reason) == reason
    await pressure.aclose()
    await pressure.aclose()


@pytest.mark.skipif(sys.platform != "linux", reason="process groups are read from the Linux kernel")
async def test_what_speculation_uses_does_not_count_against_it() -> None:
    spinning = await asyncio.create_subprocess_exec(sys.executable, "-c", SPIN, start_new_session=True)
    try:
        counting = Pressure(PressureLimits(sample_seconds=0.2))
        ignoring = Pressure(PressureLimits(sample_seconds=0.2), groups=lambda: [spinning.pid])
        counting.start()
        ignoring.start()
        async with asyncio.timeout(30):
            while counting.cpu_share - ignoring.cpu_share < 0.5 / (os.cpu_count() or 1):
                await asyncio.sleep(0)
        await counting.aclose()
        await ignoring.aclose()
    finally:
        spinning.kill()
        await spinning.wait()
