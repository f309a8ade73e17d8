"""A Chromium: launched when first needed, anew after a crash and when it has served its time, and never left behind.

Invariant: at most one launch runs at a time, every call to the browser ends within a time limit, and one that is
retired ends when the last slot in it is given back, not earlier.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from browser.engine.driver import Driver, RunningDriver
from browser.engine.launch import LaunchOptions, launch
from browser.engine.priority import lower, restore
from browser.engine.recycling import RecyclingLimits
from browser.engine.running_browser import RunningBrowser
from browser.errors import LaunchFailed, PoolClosed, SlotCrashed
from browser.session.identity import Identity

__all__ = ["BrowserProcess", "LaunchOptions"]


class Opener(Protocol):
    """Opens a browser, as `launch` does; raises `LaunchFailed`, or `BrowserNotFound`."""

    async def __call__(
        self, driver: RunningDriver, *, options: LaunchOptions, background: bool, proxy: str | None, now_seconds: float
    ) -> RunningBrowser: ...


class BrowserProcess:
    """A Chromium process that is there when asked for.

    Args:
        driver: What starts it.
        options: How it is started.
        background: Whether it only runs on processor time that nobody else wants.
        proxy: Gives the address of the proxy that all its requests go through; None: none of ours.
        opener: What starts it, or connects to one that somebody else has started.
        clock: Where the time comes from, in seconds.

    Resource handling: owns the process, and those it replaced until their last slots are given back; close it with
    `aclose()`.
    """

    def __init__(
        self,
        driver: Driver,
        *,
        options: LaunchOptions,
        background: bool = False,
        proxy: Callable[[], str | None] = lambda: None,
        opener: Opener = launch,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._driver = driver
        self._proxy = proxy
        self._opener = opener
        self._options = options
        self._background = background
        self._clock = clock
        self._urgent = 0
        self._rescheduling: asyncio.Task[None] | None = None
        self._current: RunningBrowser | None = None
        self._draining: set[RunningBrowser] = set()
        self._homes: dict[BrowserContext, RunningBrowser] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._launching: asyncio.Task[RunningBrowser] | None = None
        self.launches = 0
        """How many times it has been started."""
        self.retirements = 0
        """How many times it has been replaced because it had served its time."""

    async def start(self) -> None:
        """Launch the browser where it does not run.

        Raises:
            BrowserNotFound: There is no Chromium on this machine.
            LaunchFailed: It does not start.
            PoolClosed: It was closed meanwhile.
        """
        self._leave(await self._enter())

    async def new_context(self, identity: Identity, *, headers: Mapping[str, str]) -> BrowserContext:
        """Make a fresh context, launching the browser first where it does not run; give it back with `leave()`.

        Args:
            identity: Who it is to the sites; the headers of its own are added page by page.
            headers: What is sent with every request.

        Raises:
            BrowserNotFound: There is no Chromium on this machine.
            LaunchFailed: It does not start.
            SlotCrashed: It died meanwhile; asking again launches a new one.
            PoolClosed: It was closed meanwhile.
        """
        home = await self._enter()
        try:
            context = await self._new_context(home, identity, headers)
        except BaseException:
            self._leave(home)
            raise
        self._homes[context] = home
        return context

    async def _new_context(
        self, home: RunningBrowser, identity: Identity, headers: Mapping[str, str]
    ) -> BrowserContext:
        try:
            async with asyncio.timeout(self._options.launch_seconds):
                # Service workers would hide requests from the guard.
                return await home.browser.new_context(
                    **identity.context_arguments(),
                    service_workers="block",
                    accept_downloads=not self._background,
                    extra_http_headers=dict(headers),
                    proxy={"server": home.proxy} if home.proxy else None,
                )
        except (PlaywrightError, TimeoutError) as error:
            await self.suspect(home)
            raise SlotCrashed("the browser died while a context was being opened") from error

    def home(self, context: BrowserContext) -> RunningBrowser:
        """Return the browser that a context was made in."""
        return self._homes[context]

    def leave(self, context: BrowserContext) -> None:
        """Count a context as gone; a retired browser ends with its last one. May be called twice."""
        home = self._homes.pop(context, None)
        if home is not None:
            self._leave(home)

    async def suspect(self, home: RunningBrowser) -> None:
        """Look whether a browser that failed or did not answer still works; if not, another takes its place."""
        if home.retired:
            return
        try:
            async with asyncio.timeout(self._options.close_seconds):
                session = await home.browser.new_browser_cdp_session()
                await session.detach()
        except (PlaywrightError, TimeoutError):
            await self._driver.check()
            self._retire(home)

    async def _enter(self) -> RunningBrowser:
        """Return the browser that takes slots now, and count one more in it.

        Cancellation: a launch goes on, and the next finds the browser; a call to the driver cannot be taken back.
        """
        if self._current is not None and not self._current.alive:
            self._retire(self._current)
        while self._current is None:
            if self._launching is None:
                self._launching = asyncio.create_task(self._launch(), name="launch a browser")
                self._launching.add_done_callback(self._launched)
            launching = self._launching
            await asyncio.wait([launching])
            if launching.cancelled():
                raise PoolClosed("the browser was closed while it was being started")
            launching.result()
        self._current.slots += 1
        return self._current

    def _launched(self, launching: asyncio.Task[RunningBrowser]) -> None:
        self._launching = None
        if not launching.cancelled() and launching.exception() is None:
            self._current = launching.result()
            self.launches += 1

    def _leave(self, home: RunningBrowser) -> None:
        home.slots -= 1
        if home.retired and home.slots == 0:
            self._end(home)

    def retire(self) -> None:
        """Let the browser take no more slots, and end when its last one is given back."""
        if self._current is not None:
            self._retire(self._current)
            self.retirements += 1

    def retire_if_due(self, limits: RecyclingLimits) -> None:
        """Retire the browser where it has served its time."""
        if self._current is not None and self._current.wear.is_browser_due(limits, now_seconds=self._clock()):
            self.retire()

    def _retire(self, home: RunningBrowser) -> None:
        if home.retired:
            return
        home.retired = True
        self._draining.add(home)
        if self._current is home:
            self._current = None
        # What is dead has nothing to wait for, and may have left something behind.
        if home.slots == 0 or not home.alive:
            self._end(home)

    def _end(self, home: RunningBrowser) -> None:
        if home in self._draining:
            self._draining.discard(home)
            task = asyncio.create_task(home.aclose(seconds=self._options.close_seconds), name="end a browser")
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def _launch(self) -> RunningBrowser:
        driver = await self._driver.running()
        try:
            return await self._launch_by(driver)
        except LaunchFailed:
            await self._driver.check()
            if driver.alive:
                raise
        # It was not Chromium that failed.
        return await self._launch_by(await self._driver.running())

    async def _launch_by(self, driver: RunningDriver) -> RunningBrowser:
        home = await self._opener(
            driver, options=self._options, background=self._background, proxy=self._proxy(), now_seconds=self._clock()
        )
        try:
            if self._background and not self._urgent and home.main is not None:
                await asyncio.to_thread(lower, home.main.pid)
        except BaseException:
            await home.aclose(seconds=self._options.close_seconds)
            raise
        return home

    @property
    def browsers(self) -> Sequence[RunningBrowser]:
        """Those that run: the one that takes slots, if any, then those that end with their last slots."""
        return [home for home in (self._current, *self._draining) if home is not None]

    @property
    def groups(self) -> Sequence[int]:
        """The process groups of all that run on this machine."""
        return [home.main.pid for home in self.browsers if home.main is not None]

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
        if self.groups:
            turn = _in_turn(self._rescheduling, change, self.groups)
            self._rescheduling = asyncio.create_task(turn, name="reschedule")

    async def aclose(self) -> None:
        """Close the browser; bounded in time, and may be called twice."""
        if self._launching is not None:
            self._launching.cancel()
            await asyncio.wait([self._launching], timeout=2 * self._options.close_seconds)
        for home in self.browsers:
            self._retire(home)
            self._end(home)
        owned = [*self._ending, *([self._rescheduling] if self._rescheduling else ())]
        if owned:
            await asyncio.wait(owned, timeout=2 * self._options.close_seconds)


async def _in_turn(before: asyncio.Task[None] | None, change: Callable[[int], None], groups: Sequence[int]) -> None:
    if before is not None:
        await asyncio.wait([before])
    for group in groups:
        await asyncio.to_thread(change, group)
