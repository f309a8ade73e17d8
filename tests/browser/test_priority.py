"""Speculation's processes run only on idle processor time, and as any other while somebody waits for them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser.engine.priority import lower, restore
from browser.pool import BrowserPool, PoolOptions
from tests.processes import browsers

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a means of the Linux kernel")


@pytest.fixture
def sleeper() -> Iterator[int]:
    with subprocess.Popen(["sh", "-c", "sleep 60 & wait"], start_new_session=True) as process:
        yield process.pid
        os.killpg(process.pid, 9)


def policies(group: int) -> set[int]:
    """The scheduling classes of all threads of a process group."""
    members = [
        int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and of(int(entry.name), group)
    ]
    assert members
    return {os.sched_getscheduler(int(task.name)) for pid in members for task in Path(f"/proc/{pid}/task").iterdir()}


def of(pid: int, group: int) -> bool:
    try:
        return os.getpgid(pid) == group
    except ProcessLookupError:
        return False


def test_a_group_is_lowered_and_restored(sleeper: int) -> None:
    lower(sleeper)
    assert policies(sleeper) == {os.SCHED_IDLE}
    restore(sleeper)
    assert policies(sleeper) == {os.SCHED_OTHER}


def test_a_group_that_is_gone_is_no_error() -> None:
    with subprocess.Popen(["true"], start_new_session=True) as process:
        process.wait()
    lower(process.pid)
    restore(process.pid)


async def test_only_the_speculative_browser_is_lowered() -> None:
    before = browsers()
    async with BrowserPool(PoolOptions(speculation_slots=1)) as pool:
        async with pool.speculation("owner"):
            groups = [process.pid for process in browsers() - before]
            found = sorted(policies(group) for group in groups)
        assert found == [{os.SCHED_OTHER}, {os.SCHED_IDLE}] or found == [{os.SCHED_IDLE}, {os.SCHED_OTHER}]
