"""Starting a Chromium.

Invariant: what is returned runs, and is known by its first process, so that it can be ended whether it answers or not.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from playwright.async_api import Browser
from playwright.async_api import Error as PlaywrightError

from browser.engine.chromium import find_chromium
from browser.engine.closing import end_quietly
from browser.engine.driver import RunningDriver
from browser.engine.recycling import Wear
from browser.engine.running_browser import RunningBrowser
from browser.errors import LaunchFailed

logger = logging.getLogger(__name__)

_MARGIN_SECONDS = 2.0
# Text is all that is read: without images and fonts a page loads faster, and the HTTP cache stays on, which a request
# interceptor would switch off (measured: Playwright routing makes 35 requests of a second page's 1).
_FLAGS = (
    "--blink-settings=imagesEnabled=false",
    "--disable-remote-fonts",
    "--disable-gpu",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
# A window that a page opens asks for its address before anything could close it, or look at what it asks for.
_BACKGROUND_FLAGS = (*_FLAGS, "--block-new-web-contents")


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchOptions:
    """How a Chromium is started.

    Attributes:
        executable: Which one; None: the first that `find_chromium` finds.
        headed: Whether real actions show a window; pages are never loaded ahead in one.
        launch_seconds: How long a start may take.
        close_seconds: How long a call may take that closes something, or only asks whether something still answers.
    """

    executable: Path | None = None
    headed: bool = False
    launch_seconds: float = 30.0
    close_seconds: float = 5.0


def flags(*, background: bool) -> list[str]:
    """Return what a Chromium is to be told on its command line.

    Args:
        background: Whether pages are loaded ahead in it.
    """
    return list(_BACKGROUND_FLAGS if background else _FLAGS)


async def launch(
    driver: RunningDriver, *, options: LaunchOptions, background: bool, proxy: str | None, now_seconds: float
) -> RunningBrowser:
    """Start a Chromium.

    Args:
        driver: What starts it.
        options: Which one, and how long that may take.
        background: Whether pages are loaded ahead in it.
        proxy: The address of the proxy that all its requests go through; None: none of ours.
        now_seconds: The time, by the pool's clock.

    Cancellation: what is being started is ended once it runs; a call to the driver cannot be taken back.

    Raises:
        BrowserNotFound: There is no Chromium on this machine.
        LaunchFailed: It does not start.
    """
    headed = options.headed and not background  # nobody wants to see windows of guesses
    chromium = await asyncio.to_thread(find_chromium, options.executable, headed=headed)
    if headed and sys.platform == "linux" and not {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys():
        raise LaunchFailed("a window cannot be shown: there is no display", hint="Leave --headed out.")
    sandbox = os.name != "posix" or os.geteuid() != 0
    while True:
        launching = driver.playwright.chromium.launch(
            executable_path=chromium.executable,
            headless=not headed,
            chromium_sandbox=sandbox,
            args=flags(background=background),
            proxy={"server": proxy} if proxy else None,
            timeout=options.launch_seconds * 1000,
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )
        try:
            return await _run(launching, driver, options=options, now_seconds=now_seconds)
        except (PlaywrightError, TimeoutError) as error:
            if not sandbox or "sandbox" not in str(error):
                raise LaunchFailed(
                    f"{chromium.executable} does not start: {_first_line(error)}",
                    hint="Run `speccache doctor` to see what is missing.",
                ) from error
            logger.warning("Chromium's sandbox does not work on this machine; starting without it.")
            sandbox = False


async def _run(
    launch: Coroutine[Any, Any, Browser], driver: RunningDriver, *, options: LaunchOptions, now_seconds: float
) -> RunningBrowser:
    launching = asyncio.create_task(launch, name="start Chromium")
    try:
        # The driver keeps the limit itself, unless it is the driver that hangs.
        async with asyncio.timeout(options.launch_seconds + _MARGIN_SECONDS):
            browser = await asyncio.shield(launching)
            main = await _main_process(browser)
    except BaseException:
        await end_quietly(_close(launching), seconds=options.close_seconds)
        raise
    return RunningBrowser(browser=browser, driver=driver, main=main, wear=Wear(since_seconds=now_seconds))


async def _close(launching: asyncio.Task[Browser]) -> None:
    await (await launching).close()


async def _main_process(browser: Browser) -> psutil.Process:
    """Find the first process of a browser; Playwright starts it as the leader of a process group of its own."""
    session = await browser.new_browser_cdp_session()
    found = await session.send("SystemInfo.getProcessInfo")
    await session.detach()
    return psutil.Process(next(process["id"] for process in found["processInfo"] if process["type"] == "browser"))


def _first_line(error: PlaywrightError | TimeoutError) -> str:
    return (str(error) or "it does not answer").strip().splitlines()[0]
