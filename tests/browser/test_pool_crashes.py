"""What dies costs a retry, not a page; what hangs is ended all the same; and nothing outlives its parent."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from browser.action import Visit
from browser.engine.launch import LaunchOptions
from browser.engine.run_folder import RunFolder
from browser.environment import WebEnvironment
from browser.pool import BrowserPool, PoolOptions
from tests.browser.pages import Site
from tests.browser.waiting import gone, nothing_leased, until
from tests.processes import is_browser

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")

PROGRAM = """
import asyncio, sys
from browser.page import LoadOptions
from browser.pool import BrowserPool, PoolOptions

async def main():
    async with BrowserPool(PoolOptions(speculation_slots=1)) as pool:
        pool.egress.rule.allow({"127.0.0.1"})
        slot = await pool.foreground()
        async with pool.speculation("me"):
            print("open", flush=True)
            if sys.argv[2] == "exception":
                raise RuntimeError("in the middle")
            await pool.load(slot, sys.argv[1], options=LoadOptions())

asyncio.run(main())
"""


def drivers() -> list[psutil.Process]:
    """The drivers that this process has started, the newest last."""
    children = psutil.Process().children()
    found = [child for child in children if child.is_running() and "run-driver" in child.cmdline()]
    return sorted(found, key=lambda process: process.create_time())


@pytest.fixture
async def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[BrowserPool]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    options = PoolOptions(speculation_slots=1, launch=LaunchOptions(close_seconds=0.5))
    async with BrowserPool(options) as opened:
        yield opened


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def family(driver: psutil.Process) -> list[psutil.Process]:
    return [driver, *driver.children(recursive=True)]


async def test_a_dead_driver_costs_a_retry_not_the_page(pool: BrowserPool, site: Site, tmp_path: Path) -> None:
    for path in "abc":
        site.put(f"/{path}", f"<p>{path} text</p><a href=/a>a</a><a href=/b>b</a><a href=/c>c</a>")
    held = site.put("/held", "<p>held text</p>", held=True)
    environment = WebEnvironment(pool, named_hosts={"127.0.0.1"})
    await environment.step(Visit(site.url("/a")))

    step = asyncio.create_task(environment.step(Visit(site.url("/held"))))
    await held.requested.wait()
    first = family(drivers()[-1])
    first[0].kill()
    held.gate.set()
    assert "held text" in (await step).text

    async with pool.speculation("me"):
        pass
    second = family(drivers()[-1])
    second[0].kill()
    assert "b text" in (await environment.step(Visit(site.url("/b")))).text
    async with pool.speculation("me"):
        pass
    now = pool.statistics()
    assert (now.driver_starts, now.replaced, now.foreground) == (3, 2, 1)
    await gone([*first, *second])
    await environment.aclose()
    await pool.forget("me")
    await nothing_leased(pool)


@pytest.mark.parametrize("what", ["page", "browser"])
async def test_what_dies_between_two_loads_is_replaced(pool: BrowserPool, site: Site, what: str) -> None:
    for path in "ab":
        site.put(f"/{path}", f"<p>{path} text</p>")
    environment = WebEnvironment(pool, named_hosts={"127.0.0.1"})
    await environment.step(Visit(site.url("/a")))
    page = await environment.live()
    crashed = asyncio.Event()
    page.on("crash" if what == "page" else "close", lambda _: crashed.set())
    for process in drivers()[-1].children(recursive=True):
        if is_browser(process) if what == "browser" else "--type=renderer" in process.cmdline():
            process.kill()
    await crashed.wait()
    assert "b text" in (await environment.step(Visit(site.url("/b")))).text
    assert pool.statistics().replaced == 1
    await environment.aclose()


@pytest.mark.parametrize("what", ["browser", "driver"])
async def test_what_hangs_is_ended_in_bounded_time(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = drivers()
    async with BrowserPool(PoolOptions(speculation_slots=1, launch=LaunchOptions(close_seconds=0.3))) as pool:
        async with pool.speculation("me"):
            await until(pool, lambda now: now.spare == 1)
        [driver] = set(drivers()) - set(before)
        processes = family(driver)
        for process in processes:
            if is_browser(process) if what == "browser" else process == driver:
                process.suspend()
        started_seconds = time.monotonic()
    assert time.monotonic() - started_seconds < 10
    await gone(processes)
    assert names(tmp_path) == []


async def test_a_hanging_browser_does_not_cost_the_page(pool: BrowserPool, site: Site) -> None:
    site.put("/a", "<p>a text</p>")
    slot = await pool.foreground()
    slot.home.main.suspend()
    with pytest.raises(Exception, match="does not answer"):
        async with pool.bounded(slot, seconds=0.1):
            await slot.page.title()
    other = await pool.replace(slot)
    assert other.home is not slot.home
    assert await other.page.title() == ""
    await pool.discard(other)
    await nothing_leased(pool)
    await gone([slot.home.main])


@pytest.mark.parametrize("end", ["SIGTERM", "exception", "SIGKILL"], ids=lambda end: f"40-{end}")
async def test_nothing_outlives_a_program(end: str, site: Site, tmp_path: Path) -> None:
    held = site.put("/held", "held", held=True)
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PROGRAM, site.url("/held"), end),
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert program.stdout is not None
    processes: list[psutil.Process] = []
    if end == "exception":
        assert b"in the middle" in (await program.communicate())[1]
    else:
        await held.requested.wait()
        processes = psutil.Process(program.pid).children(recursive=True)
        assert sum(map(is_browser, processes)) == 2
        program.send_signal(getattr(signal, end))
        await program.communicate()
    await gone(processes)
    assert [process for process in psutil.process_iter(["environ"]) if is_left(process, tmp_path)] == []
    if end != "exception":
        RunFolder(parent=tmp_path).make()
        assert len(names(tmp_path)) == 2, "what it left went when this one and its lock came"
    else:
        assert names(tmp_path) == []


def is_left(process: psutil.Process, folder: Path) -> bool:
    return str(folder) in (process.info["environ"] or {}).get("TMPDIR", "")
