"""Starting a browser once, for real, to learn whether it works here.

Invariant: whatever the answer, no browser is left behind.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from playwright.async_api import Error, Playwright

from browser.engine.chromium import Chromium
from browser.engine.driver import Driver
from browser.engine.run_folder import RunFolder
from browser.errors import LaunchFailed

_CLOSE_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What one start showed.

    Attributes:
        version: The browser's version, as it names it over the protocol.
        launch_seconds: From starting the process to its first answer.
        page_seconds: From asking for a page to an empty one being loaded.
    """

    version: str
    launch_seconds: float
    page_seconds: float


async def probe(chromium: Chromium, *, sandbox: bool = False, timeout_seconds: float = 30.0) -> Probe:
    """Start the browser, load an empty page, and end it.

    Args:
        chromium: Which browser.
        sandbox: Whether to insist on Chromium's own sandbox, which root and some containers cannot have.
        timeout_seconds: For everything together.

    Raises:
        LaunchFailed: It did not start, or did not load the page in time.
    """
    async with passing_driver(timeout_seconds=timeout_seconds) as driver:
        try:
            async with asyncio.timeout(timeout_seconds):
                return await _tried((await driver.running()).playwright, chromium, sandbox=sandbox)
        except TimeoutError as error:
            raise LaunchFailed(f"{chromium.executable} did not load a page in {timeout_seconds:g} s") from error
        except Error as error:
            raise LaunchFailed(f"{chromium.executable} does not start: {_reason(error)}") from error


@asynccontextmanager
async def passing_driver(*, timeout_seconds: float) -> AsyncIterator[Driver]:
    """Have a driver for the length of the block, after which nothing of it is left.

    Args:
        timeout_seconds: How long its start may take.
    """
    folder = RunFolder()
    driver = Driver(folder.path, start_seconds=timeout_seconds, close_seconds=_CLOSE_SECONDS)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(asyncio.to_thread, folder.remove)
        await asyncio.to_thread(folder.make)
        stack.push_async_callback(asyncio.to_thread, folder.end_processes)
        stack.push_async_callback(driver.aclose)
        yield driver


async def _tried(playwright: Playwright, chromium: Chromium, *, sandbox: bool) -> Probe:
    # Whoever asks keeps the time.
    started = time.perf_counter()
    browser = await playwright.chromium.launch(executable_path=chromium.executable, chromium_sandbox=sandbox, timeout=0)
    launched = time.perf_counter()
    page = await browser.new_page()
    await page.goto("about:blank", timeout=0)
    loaded = time.perf_counter()
    version = browser.version
    await browser.close()
    return Probe(version=version, launch_seconds=launched - started, page_seconds=loaded - launched)


def _reason(error: Error) -> str:
    """Prefer the browser's own words, which Playwright keeps below its own, without their time and place."""
    own = re.search(r"\[err\] (?:\[[^]]*\] )?(.+)", error.message)
    return own.group(1) if own else error.message.strip().partition("\n")[0]
