"""One Chromium process: launched when first needed, launched anew after a crash, never left behind.

Invariant: at most one launch runs at a time, and every call to the browser ends within a time limit.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Browser, BrowserContext, Playwright
from playwright.async_api import Error as PlaywrightError

from browser.chromium import find_chromium
from browser.errors import LaunchFailed, SlotCrashed
from browser.priority import lower, restore

logger = logging.getLogger(__name__)

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
class Viewport:
    """The size of a page's window, in CSS pixels."""

    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


# Tall, so that lists which load what comes into view load more of it.
VIEWPORT = Viewport(width=1280, height=2000)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchOptions:
    """How a Chromium is started.

    Attributes:
        executable: Which one; None: the first that `find_chromium` finds.
        headed: Whether it shows a window.
        launch_seconds: How long a start may take.
        close_seconds: How long a call that closes something may take.
    """

    executable: Path | None = None
    headed: bool = False
    launch_seconds: float = 30.0
    close_seconds: float = 5.0


class BrowserProcess:
    """A Chromium process that is there when asked for.

    Args:
        playwright: The driver that starts it.
        options: How it is started.
        background: Whether it only runs on processor time that nobody else wants.
        proxy: The address of the proxy that all its requests go through; None: none of ours.

    Resource handling: owns the process; close it with `aclose()`.
    """

    def __init__(
        self, playwright: Playwright, *, options: LaunchOptions, background: bool = False, proxy: str | None = None
    ) -> None:
        self._playwright = playwright
        self._proxy = proxy
        self._options = options
        self._background = background
        self._urgent = 0
        self._rescheduling: asyncio.Task[None] | None = None
        self._group: int | None = None
        self._browser: Browser | None = None
        self._launching = asyncio.Lock()
        self.launches = 0
        """How many times it has been started."""

    async def start(self) -> None:
        """Launch the browser where it does not run.

        Raises:
            BrowserNotFound: There is no Chromium on this machine.
            LaunchFailed: It does not start.
        """
        await self._running()

    async def new_context(self, *, locale: str, headers: Mapping[str, str]) -> BrowserContext:
        """Make a fresh context, launching the browser first where it does not run.

        Raises:
            BrowserNotFound: There is no Chromium on this machine.
            LaunchFailed: It does not start.
            SlotCrashed: It died meanwhile; asking again launches a new one.
        """
        browser = await self._running()
        try:
            async with asyncio.timeout(self._options.launch_seconds):
                # Service workers would hide requests from the guard.
                return await browser.new_context(
                    viewport={"width": VIEWPORT.width, "height": VIEWPORT.height},
                    service_workers="block",
                    accept_downloads=False,
                    locale=locale,
                    extra_http_headers=dict(headers),
                )
        except (PlaywrightError, TimeoutError) as error:
            raise SlotCrashed("the browser died while a context was being opened") from error

    async def _running(self) -> Browser:
        async with self._launching:
            if self._browser is None or not self._browser.is_connected():
                self._browser = await self._launch(sandbox=os.name != "posix" or os.geteuid() != 0)
                if self._background:
                    self._group = await _process_group(self._browser)
                    lower(self._group)
                self.launches += 1
            return self._browser

    async def _launch(self, *, sandbox: bool) -> Browser:
        chromium = await asyncio.to_thread(find_chromium, self._options.executable)
        try:
            return await self._playwright.chromium.launch(
                executable_path=chromium.executable,
                headless=not self._options.headed,
                chromium_sandbox=sandbox,
                args=list(_BACKGROUND_FLAGS if self._background else _FLAGS),
                proxy={"server": self._proxy} if self._proxy else None,
                timeout=self._options.launch_seconds * 1000,
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
        except PlaywrightError as error:
            if sandbox and "sandbox" in error.message:
                logger.warning("Chromium's sandbox does not work on this machine; starting without it.")
                return await self._launch(sandbox=False)
            raise LaunchFailed(
                f"{chromium.executable} does not start: {_first_line(error)}",
                hint="Run `speccache doctor` to see what is missing.",
            ) from error

    @property
    def group(self) -> int | None:
        """The process group of a background browser that runs."""
        return self._group

    @contextmanager
    def urgent(self) -> Iterator[None]:
        """Let a background process run as any other while somebody waits for its work."""
        self._urgent += 1
        if self._urgent == 1:
            self._reschedule(restore)
        try:
            yield
        finally:
            self._urgent -= 1
            if self._urgent == 0:
                self._reschedule(lower)

    def _reschedule(self, change: Callable[[int], None]) -> None:
        """Change the priority beside the event loop, in the order of the calls; nobody waits for it."""
        if self._group is not None:
            before, group = self._rescheduling, self._group
            self._rescheduling = asyncio.create_task(_in_turn(before, change, group), name="reschedule")

    async def aclose(self) -> None:
        """Close the browser; bounded in time, and may be called twice."""
        async with self._launching:
            browser, self._browser = self._browser, None
        if self._rescheduling is not None:
            await asyncio.wait([self._rescheduling], timeout=self._options.close_seconds)
        if browser is not None:
            await end_quietly(browser.close(), seconds=self._options.close_seconds)


async def end_quietly(closing: Awaitable[None], *, seconds: float) -> None:
    """Wait for something to close; what is dead or does not answer in time counts as closed."""
    with suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(seconds):
            await closing


async def _in_turn(before: asyncio.Task[None] | None, change: Callable[[int], None], group: int) -> None:
    if before is not None:
        await asyncio.wait([before])
    await asyncio.to_thread(change, group)


async def _process_group(browser: Browser) -> int:
    """Return the process group of a browser, which Playwright starts as one of its own."""
    session = await browser.new_browser_cdp_session()
    found = await session.send("SystemInfo.getProcessInfo")
    await session.detach()
    main = next(process["id"] for process in found["processInfo"] if process["type"] == "browser")
    return os.getpgid(main)


def _first_line(error: PlaywrightError) -> str:
    return error.message.strip().splitlines()[0]
