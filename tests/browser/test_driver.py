"""Playwright's driver: its folder, its death, and that it starts once."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from browser.engine.driver import Driver
from browser.engine.run_folder import VARIABLE
from browser.errors import LaunchFailed
from tests.browser.waiting import gone


def driver(folder: Path) -> Driver:
    return Driver(folder, start_seconds=30.0, close_seconds=1.0)


async def test_two_that_start_side_by_side_keep_their_files_apart(tmp_path: Path) -> None:
    before = os.environ.get(VARIABLE)
    drivers = [driver(tmp_path / name) for name in "ab"]
    async with asyncio.TaskGroup() as group:
        starts = [group.create_task(each.running()) for each in drivers for _ in range(3)]
    running = {start.result() for start in starts}
    assert len(running) == 2, "each is started once, however many ask for it"
    processes = [each.process for each in running if each.process is not None]
    assert {process.environ()[VARIABLE] for process in processes} == {str(tmp_path / name) for name in "ab"}
    assert os.environ.get(VARIABLE) == before
    for each in drivers:
        await each.aclose()
        await each.aclose()
    await gone(processes)


async def test_a_dead_one_is_started_anew_and_so_is_one_that_does_not_answer(tmp_path: Path) -> None:
    one = driver(tmp_path)
    first = await one.running()
    await one.check()
    assert await one.running() is first
    assert first.process is not None
    first.process.kill()
    await gone([first.process])
    second = await one.running()
    assert (second is first, one.starts) == (False, 2)
    assert second.process is not None
    second.process.suspend()
    await one.check()
    assert not second.alive
    assert (await one.running()).alive
    await gone([second.process])
    await one.aclose()


async def test_one_that_ends_at_once_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", shutil.which("true") or "")
    with pytest.raises(LaunchFailed, match="driver does not start"):
        await driver(tmp_path).running()
    assert os.environ.get(VARIABLE) != str(tmp_path)


async def test_a_library_it_lacks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = tmp_path / "node"
    complaint = "node: error while loading shared libraries: libatomic.so.1: cannot open shared object file"
    node.write_text(f'#!/bin/sh\necho "{complaint}" >&2\nexit 127\n', encoding="utf-8")
    node.chmod(0o755)
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(node))
    with pytest.raises(LaunchFailed, match=r"libatomic\.so\.1 is missing") as caught:
        await driver(tmp_path).running()
    assert "libatomic1" in caught.value.hint
