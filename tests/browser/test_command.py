"""Running programs: their output, their time limit, and that nothing of them is left."""

from __future__ import annotations

import asyncio
import os
import select
import sys
from pathlib import Path

import pytest

from browser.engine.command import run

# Writes the id of a child of its own, then waits for it, which is for ever.
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
print(child.pid, flush=True)
child.wait()
"""

needs_pidfd = pytest.mark.skipif(
    not hasattr(os, "pidfd_open"), reason="waits for a process that is no child of its own"
)


async def test_lines_of_both_streams_are_seen_as_they_come() -> None:
    seen: list[str] = []
    script = "import os, sys; print(os.environ['WORD'], flush=True); print('two', file=sys.stderr); sys.exit(7)"
    outcome = await run(
        [sys.executable, "-c", script], timeout_seconds=30, environment={"WORD": "one"}, on_line=seen.append
    )
    assert (outcome.code, outcome.lines, seen) == (7, ("one", "two"), ["one", "two"])
    assert outcome.reason == "two"


async def test_a_line_beyond_all_measure_is_left_out() -> None:
    outcome = await run([sys.executable, "-c", "print('x' * 300_000); print('end')"], timeout_seconds=30)
    assert outcome.code == 0
    assert outcome.lines[-1] == "end"


async def test_a_silent_failure_is_told_by_its_code() -> None:
    outcome = await run([sys.executable, "-c", "raise SystemExit(3)"], timeout_seconds=30)
    assert outcome.reason == "exit code 3"


async def test_a_missing_program_is_an_outcome(tmp_path: Path) -> None:
    outcome = await run([str(tmp_path / "absent")], timeout_seconds=30)
    assert outcome.code is None
    assert "absent" in outcome.reason


@needs_pidfd
async def test_at_the_time_limit_the_children_end_too() -> None:
    outcome = await run([sys.executable, "-c", PARENT], timeout_seconds=2)
    assert outcome.code is None
    assert outcome.reason == "stopped after 2 s"
    assert is_gone(int(outcome.lines[0]))


@needs_pidfd
async def test_when_cancelled_the_children_end_too() -> None:
    started: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    running = asyncio.create_task(run([sys.executable, "-c", PARENT], timeout_seconds=60, on_line=started.set_result))
    child = int(await started)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert is_gone(child)


def is_gone(pid: int) -> bool:
    """Wait until a process has ended; one that nobody reaps has ended as well."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 10)[0])
    finally:
        os.close(handle)
