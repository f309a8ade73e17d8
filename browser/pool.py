"""Contexts with a page, leased from two browser processes.

Invariant: a speculation never runs in the process, nor in a slot, that a real action uses. (Measured: a navigation took
151 ms alone, 551 ms beside four background loads in its own process, 239 ms with these in another.)
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from urllib.request import getproxies

from playwright.async_api import BrowserContext, Page, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from browser.cookies import Cookies, give_cookies
from browser.courtesy import Courtesy
from browser.egress import EgressProxy
from browser.egress_rule import EgressRule
from browser.errors import BrowserError, PoolClosed, SlotCrashed
from browser.guard import GUARD_SCRIPT, Guard
from browser.habits import Habits
from browser.observation import Document
from browser.page import INIT_SCRIPT, LoadOptions, load
from browser.pressure import Pressure
from browser.process import BrowserProcess, LaunchOptions, end_quietly
from browser.right_of_way import RightOfWay

# Honest towards the site: it may refuse (503), as it may refuse a browser's own prerendering.
_PURPOSE = {"Sec-Purpose": "prefetch;prerender"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolOptions:
    """How large the pool is and how its browsers start.

    Attributes:
        speculation_slots: Pages that may load ahead at once; 0: no second browser is ever started.
        locale: The language pages are asked for, as a BCP 47 tag.
        allowed_domains: The only domains that are reached, with all below them; empty: any.
        denied_domains: Domains that are never reached, nor any below them.
        launch: How the browsers are started.
    """

    speculation_slots: int = 4
    locale: str = "en-US"
    allowed_domains: tuple[str, ...] = ()
    denied_domains: tuple[str, ...] = ()
    launch: LaunchOptions = field(default_factory=LaunchOptions)


@dataclass(slots=True, kw_only=True, eq=False)
class Slot:
    """A context with one page.

    Attributes:
        context: Its cookies, storage and HTTP cache.
        page: Where pages are loaded.
        guard: What keeps a speculative page from doing anything but reading; None in the foreground.
        owner: Whose cookies it holds; None while nobody has used it.
        cookies: The cookies it is known to hold; None where a load may have changed them.
        crashed: Whether its page is known to be dead.
    """

    context: BrowserContext
    page: Page
    guard: Guard | None = None
    owner: Hashable = None
    cookies: Cookies | None = ()
    crashed: bool = False

    @property
    def alive(self) -> bool:
        """Whether its browser runs and its page is open and not dead."""
        browser = self.context.browser
        running = browser is not None and browser.is_connected()
        return running and not self.crashed and not self.page.is_closed()


class BrowserPool:
    """Two browsers and their slots.

    Use it as `async with BrowserPool(options) as pool:`.

    Resource handling: owns the driver, both browsers and every slot; all are gone when the block ends, however it ends.
    """

    def __init__(self, options: PoolOptions = PoolOptions()) -> None:
        self.options = options
        self._stack = AsyncExitStack()
        self._proxy: str | None = None
        self.courtesy = Courtesy(proxy=lambda: self._proxy)
        """What all sessions know of the hosts they visit."""
        self.egress = EgressProxy(
            EgressRule(allowed_domains=options.allowed_domains, denied_domains=options.denied_domains)
        )
        """The only way out of both browsers."""
        self.pressure = Pressure()
        """Whether the machine has room for speculation."""
        self._foreground: BrowserProcess | None = None
        self._background: BrowserProcess | None = None
        self._vacancies = asyncio.Semaphore(max(options.speculation_slots, 1))
        self._idle: list[Slot] = []
        self._leased: set[Slot] = set()
        self._foreground_slots: set[Slot] = set()
        self._habits = Habits()
        self._right_of_way = RightOfWay()
        self._warming: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> BrowserPool:
        playwright = await self._stack.enter_async_context(_driver(self.options.launch.close_seconds))
        await self._stack.enter_async_context(self.egress)
        # Behind a proxy of the user's own, that one is the way out, and the addresses it reaches are its business.
        self._proxy = None if {"http", "https", "all"} & getproxies().keys() else self.egress.url
        launch, proxy = self.options.launch, self._proxy
        self._foreground = BrowserProcess(playwright, options=launch, proxy=proxy)
        self._stack.push_async_callback(self._foreground.aclose)
        self._background = BrowserProcess(playwright, options=launch, background=True, proxy=proxy)
        self._stack.push_async_callback(self._background.aclose)
        self._stack.push_async_callback(self.courtesy.aclose)
        background = self._background
        self.pressure = Pressure(group=lambda: background.group)
        self._stack.push_async_callback(self.pressure.aclose)
        self._stack.push_async_callback(self._stop_warming)
        try:
            await self._foreground.start()  # a machine without a browser says so before anything is asked
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._foreground, self._background = None, None
        await asyncio.shield(asyncio.create_task(self._stack.aclose(), name="close browser pool"))

    async def foreground(self, *, cookies: Cookies = ()) -> Slot:
        """Open a slot for real actions; give it back with `discard()`.

        Raises:
            BrowserNotFound: There is no Chromium on this machine.
            LaunchFailed: It does not start.
            SlotCrashed: It died meanwhile; asking again is worth it.
        """
        slot = await self._open(self._process(self._foreground))
        self._foreground_slots.add(slot)
        if cookies:
            await give_cookies(slot, cookies)
        return slot

    @asynccontextmanager
    async def speculation(self, owner: Hashable, *, cookies: Cookies = ()) -> AsyncIterator[Slot]:
        """Lease a speculative slot, with these cookies and nothing of any other owner in it.

        Raises:
            BrowserError: As `foreground()`.
        """
        async with self._vacancies:
            slot = await self._take_idle(owner)
            self._leased.add(slot)
            try:
                if slot.cookies is None or list(slot.cookies) != list(cookies):
                    await give_cookies(slot, cookies)
                slot.cookies = None
                yield slot
            except SlotCrashed:
                slot.crashed = True
                raise
            finally:
                self._leased.discard(slot)
                # A navigation that was blocked ends in an error page of the browser, in the way of the next load.
                if slot.alive and not (slot.guard and slot.guard.blocked):
                    self._idle.append(slot)
                else:
                    await self.discard(slot)

    async def _take_idle(self, owner: Hashable) -> Slot:
        for wanted in (owner, None):
            for slot in [slot for slot in self._idle if slot.owner == wanted]:
                self._idle.remove(slot)
                if slot.alive:
                    slot.owner = owner
                    return slot
        if self._idle and len(self._idle) + len(self._leased) >= self.options.speculation_slots:
            await self.discard(self._idle.pop(0))  # another owner's: its storage must not be seen by this one
        slot = await self._open(self._process(self._background), guarded=True)
        slot.owner = owner
        return slot

    async def _open(self, process: BrowserProcess, *, guarded: bool = False) -> Slot:
        context = await process.new_context(locale=self.options.locale, headers=_PURPOSE if guarded else {})
        try:
            async with asyncio.timeout(self.options.launch.launch_seconds):
                await context.add_init_script(INIT_SCRIPT)
                if guarded:
                    await context.add_init_script(GUARD_SCRIPT)
                page = await context.new_page()
                slot = Slot(
                    context=context, page=page, guard=await Guard.install(page, self._right_of_way) if guarded else None
                )
                page.on("crash", lambda _: setattr(slot, "crashed", True))
                return slot
        except (PlaywrightError, TimeoutError) as error:
            await end_quietly(context.close(), seconds=self.options.launch.close_seconds)
            raise SlotCrashed("the browser died while a page was being opened") from error

    async def load(self, slot: Slot, url: str, *, options: LoadOptions) -> Document:
        """Load a URL in a slot, with what all sessions have learned of its site.

        Raises:
            SlotCrashed: The slot died.
        """
        with nullcontext() if slot.guard else self._right_of_way.held():
            return await load(slot.page, url, options=options, habits=self._habits, failure=self.egress.failure)

    def urgent(self) -> AbstractContextManager[None]:
        """Give speculation the priority of a real action, for as long as one waits for its load."""
        return self._process(self._background).urgent()

    async def discard(self, slot: Slot) -> None:
        """Close a slot for good."""
        self._foreground_slots.discard(slot)
        if slot.guard is not None:
            await slot.guard.aclose()
        await end_quietly(slot.context.close(), seconds=self.options.launch.close_seconds)

    async def forget(self, owner: Hashable) -> None:
        """Close the idle slots of an owner that is done: nobody else may see what is in them."""
        for slot in [slot for slot in self._idle if slot.owner is owner]:
            self._idle.remove(slot)
            await self.discard(slot)

    def warm(self) -> None:
        """Open the speculative slots in the background, so that the first guesses find them ready."""
        process = self._process(self._background)
        self.pressure.start()
        for _ in range(self.options.speculation_slots - len(self._idle) - len(self._leased) - len(self._warming)):
            task = asyncio.create_task(self._warm_one(process), name="warm a slot")
            self._warming.add(task)
            task.add_done_callback(self._warming.discard)

    async def _warm_one(self, process: BrowserProcess) -> None:
        # Only a head start: where it fails, the lease that needs the slot reports why.
        with suppress(BrowserError):
            async with self._vacancies:
                self._idle.append(await self._open(process, guarded=True))

    async def _stop_warming(self) -> None:
        for task in self._warming:
            task.cancel()
        if self._warming:
            await asyncio.wait(self._warming, timeout=self.options.launch.close_seconds)

    def _process(self, process: BrowserProcess | None) -> BrowserProcess:
        if process is None:
            raise PoolClosed("the browser pool is not open", hint="Use it as `async with BrowserPool() as pool:`.")
        return process

    def __repr__(self) -> str:
        return (
            f"<BrowserPool foreground={len(self._foreground_slots)} leased={len(self._leased)}"
            f" idle={len(self._idle)} warming={len(self._warming)}>"
        )


@asynccontextmanager
async def _driver(close_seconds: float) -> AsyncIterator[Playwright]:
    starter = async_playwright()
    playwright = await starter.start()
    try:
        yield playwright
    finally:
        await end_quietly(playwright.stop(), seconds=close_seconds)
