"""The two browsers of a pool, with their driver and the folder for their temporary files: what is opened and closed.

Invariant: what real actions use and what loads ahead never share a browser or, elsewhere, a connection to one; and when
the pair is closed, nothing of it is left, neither a process nor a file.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, suppress
from functools import partial

from playwright.async_api import Error as PlaywrightError

from browser.downloads.quarantine import Quarantine
from browser.engine.closing import end_quietly
from browser.engine.driver import Driver
from browser.engine.process import BrowserProcess
from browser.engine.run_folder import RunFolder
from browser.engine.running_browser import RunningBrowser
from browser.errors import BrowserError, LaunchFailed, SlotCrashed
from browser.remote.connecting import briefly
from browser.remote.fleet import Fleet, fleets
from browser.session.identity import Identity
from browser.slots.errands import Errands
from browser.slots.pool_options import PoolOptions
from browser.slots.right_of_way import RightOfWay
from browser.slots.slot import Slot, furnish

# Honest towards the site: it may refuse (503), as it may refuse a browser's own prerendering.
_PURPOSE = {"Sec-Purpose": "prefetch;prerender"}


class BrowserPair:
    """A browser for real actions, which always runs, and one for loading ahead, which starts when it is needed.

    Args:
        options: How they start, and how long they serve.
        proxy: Gives the proxy that all their requests go through; None: none of ours.
        right_of_way: What the requests of pages loaded ahead wait for.
        clock: Where the time comes from, in seconds.

    Resource handling: owns driver, browsers, slots and folder; open it with `start()`, close it with `aclose()`.
    """

    def __init__(
        self,
        options: PoolOptions,
        *,
        proxy: Callable[[], str | None],
        right_of_way: RightOfWay,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._options = options
        self._right_of_way = right_of_way
        self._clock = clock
        self._stack = AsyncExitStack()
        self._dropping = Errands()
        self._folder = RunFolder()
        self._quarantine = Quarantine(options.downloads, parent=self._folder.path)
        launch = options.launch
        self._driver = Driver(
            self._folder.path, start_seconds=launch.launch_seconds, close_seconds=launch.close_seconds
        )
        process = partial(BrowserProcess, self._driver, options=launch, proxy=proxy, clock=clock)
        self._foreground: BrowserProcess | Fleet
        self._background: BrowserProcess | Fleet
        if options.endpoints:
            elsewhere = fleets(options.endpoints, partial(process, options=briefly(launch)))
            self._foreground, self._background = elsewhere.foreground, elsewhere.background
        else:
            self._foreground, self._background = process(), process(background=True)

    async def start(self) -> None:
        """Start the browser for real actions: a machine without one says so before anything is asked.

        Raises:
            BrowserNotFound: There is no Chromium on this machine.
            LaunchFailed: It does not start, or none of those elsewhere can be used.
        """
        self._stack.push_async_callback(asyncio.to_thread, self._folder.remove)
        try:
            await asyncio.to_thread(self._folder.make)
        except OSError as error:
            raise LaunchFailed(f"no folder for temporary files could be made: {error}") from error
        await self._stack.enter_async_context(self._quarantine)
        self._stack.push_async_callback(asyncio.to_thread, self._folder.end_processes)
        self._stack.push_async_callback(self._driver.aclose)
        self._stack.push_async_callback(self._background.aclose)
        self._stack.push_async_callback(self._foreground.aclose)
        self._stack.push_async_callback(self._dropping.wait, seconds=self._options.launch.close_seconds)
        await self._foreground.start()

    async def fit(self, slot: Slot | None, identity: Identity, *, ahead: bool) -> Slot:
        """Return this slot, or one in its place where it is somebody else's; raises as `open()`."""
        if slot is not None and slot.identity == identity:
            return slot
        if slot is not None:
            await self.close(slot)
        return await self.open(ahead=ahead, identity=identity)

    async def open(self, *, ahead: bool = False, identity: Identity | None = None) -> Slot:
        """Open a slot.

        Args:
            ahead: Whether pages are loaded ahead in it.
            identity: Who it is to the sites; None: whom the options name.

        Cancellation: what is being opened is closed as soon as it is open; a call to the browser cannot be taken back.

        Raises:
            BrowserNotFound: There is no Chromium on this machine.
            LaunchFailed: It does not start.
            SlotCrashed: It died meanwhile; asking again is worth it.
        """
        opening = asyncio.create_task(self._open(identity or self._options.identity, ahead=ahead), name="open a slot")
        try:
            await asyncio.wait([opening])
        except asyncio.CancelledError:
            self._dropping.run(self._close_unwanted(opening), name="close an unwanted slot")
            raise
        return opening.result()

    async def _close_unwanted(self, opening: asyncio.Task[Slot]) -> None:
        with suppress(BrowserError):
            await self._close(await opening)

    async def _open(self, identity: Identity, *, ahead: bool) -> Slot:
        process = self._background if ahead else self._foreground
        context = await process.new_context(identity, headers=_PURPOSE if ahead else {})
        try:
            async with asyncio.timeout(self._options.launch.launch_seconds):
                return await furnish(
                    context,
                    process.home(context),
                    identity=identity,
                    headed=self._options.launch.headed and not ahead,
                    guarded_by=self._right_of_way if ahead else None,
                    quarantine=self._quarantine,
                    now_seconds=self._clock(),
                )
        except BaseException as error:
            try:
                if isinstance(error, TimeoutError):
                    await process.suspect(process.home(context))
                await end_quietly(context.close(), seconds=self._options.launch.close_seconds)
            finally:
                process.leave(context)
            if isinstance(error, PlaywrightError | TimeoutError):
                raise SlotCrashed("the browser died while a page was being opened") from error
            raise

    async def close(self, slot: Slot) -> None:
        """Close a slot for good; bounded in time, and may be called twice.

        Cancellation: it goes on by the side.
        """
        await asyncio.wait([self.drop(slot)])

    def drop(self, slot: Slot) -> asyncio.Task[None]:
        """Close a slot by the side."""
        slot.crashed = True  # nobody may be given it while it closes
        return self._dropping.run(self._close(slot), name="close a slot")

    async def _close(self, slot: Slot) -> None:
        try:
            if slot.guard is not None:
                await slot.guard.aclose()
            if slot.sender is not None:
                await slot.sender.aclose()
            if slot.downloads is not None:
                await slot.downloads.aclose()
            await end_quietly(slot.context.close(), seconds=self._options.launch.close_seconds)
        finally:
            self._process_of(slot).leave(slot.context)

    async def suspect(self, slot: Slot) -> None:
        """Look whether the browser of a slot that did not answer still works; if not, another takes its place."""
        await self._process_of(slot).suspect(slot.home)

    def recycle(self) -> None:
        """Let what has served its time take no more slots."""
        for process in (self._foreground, self._background):
            process.retire_if_due(self._options.recycling)

    def urgent(self) -> AbstractContextManager[None]:
        """Give what loads ahead the priority of a real action."""
        return self._background.urgent()

    def _process_of(self, slot: Slot) -> BrowserProcess | Fleet:
        return self._foreground if slot.guard is None else self._background

    @property
    def background_groups(self) -> Sequence[int]:
        """The process groups in which pages load ahead."""
        return self._background.groups

    @property
    def running(self) -> Sequence[RunningBrowser]:
        """All browsers that run, also those that end with their last slots."""
        return [*self._foreground.browsers, *self._background.browsers]

    @property
    def launches(self) -> int:
        """How many browsers were started."""
        return self._foreground.launches + self._background.launches

    @property
    def retirements(self) -> int:
        """How many were replaced because they had served their time."""
        return self._foreground.retirements + self._background.retirements

    @property
    def driver_starts(self) -> int:
        """How often the driver was started."""
        return self._driver.starts

    async def aclose(self) -> None:
        """Close everything, in reverse order of opening; bounded in time, and may be called twice."""
        await self._stack.aclose()
