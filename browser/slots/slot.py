"""A slot: a context with a page, in which one page after the other is loaded.

Invariant: what one owner left in a slot is never seen by another.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field

from playwright.async_api import BrowserContext, Page

from browser.downloads.quarantine import Quarantine
from browser.downloads.watch import Downloads
from browser.engine.recycling import Wear
from browser.engine.running_browser import RunningBrowser
from browser.page import INIT_SCRIPT
from browser.session.cookies import Cookies
from browser.session.header_sender import HeaderSender
from browser.session.identity import Identity
from browser.session.web_storage import WebStorage
from browser.slots.right_of_way import RightOfWay
from browser.slots.surface import Surface, outer_size_script
from browser.speculation.guard import GUARD_SCRIPT, Guard


@dataclass(slots=True, kw_only=True, eq=False)
class Slot:
    """A context with one page.

    Attributes:
        context: Its cookies, storage and HTTP cache.
        page: Where pages are loaded.
        home: The browser it lives in.
        wear: What it has served.
        guard: What keeps a speculative page from doing anything but reading; None in the foreground.
        downloads: What takes in the files that its pages give; None where it loads ahead.
        surface: What is drawn of its page; None where somebody looks at it.
        identity: Who it is to the sites.
        sender: What adds the headers of that identity; None where there are none.
        owner: Whose cookies it holds; None while nobody has used it.
        cookies: The cookies it is known to hold; None where a load may have changed them.
        stored: What it is known to hold in storage, by origin.
        crashed: Whether its page is known to be dead, or soon will be.
    """

    context: BrowserContext
    page: Page
    home: RunningBrowser
    wear: Wear
    guard: Guard | None = None
    downloads: Downloads | None = None
    surface: Surface | None = None
    identity: Identity = field(default_factory=Identity)
    sender: HeaderSender | None = None
    owner: Hashable = None
    cookies: Cookies | None = field(default=())
    stored: dict[str, WebStorage] = field(default_factory=dict)
    crashed: bool = False

    @property
    def alive(self) -> bool:
        """Whether its browser runs and its page is open and not dead."""
        return self.home.alive and not self.crashed and not self.page.is_closed()

    @property
    def reusable(self) -> bool:
        """Whether another page may be loaded in it, and its browser takes more work.

        A navigation that was blocked ends in an error page of the browser, in the way of the next load.
        """
        return self.alive and not self.home.retired and not (self.guard and self.guard.blocked)

    def whole(self, page: Page) -> AbstractAsyncContextManager[object]:
        """Let all of a page be drawn while somebody acts on it."""
        return nullcontext() if self.surface is None else self.surface.whole(page)


async def furnish(
    context: BrowserContext,
    home: RunningBrowser,
    *,
    identity: Identity,
    headed: bool,
    guarded_by: RightOfWay | None,
    quarantine: Quarantine,
    now_seconds: float,
) -> Slot:
    """Open the page of a new context.

    Args:
        context: The context, in which nothing has been loaded.
        home: The browser it is in.
        identity: Who it is to the sites.
        headed: Whether its page is shown in a window.
        guarded_by: What the requests of a speculative page wait for; None for a page of the foreground.
        quarantine: Where files go that pages of the foreground give.
        now_seconds: The time, by the pool's clock.

    Raises:
        PlaywrightError: The browser died.
    """
    await context.add_init_script(INIT_SCRIPT)
    if guarded_by is not None:
        await context.add_init_script(GUARD_SCRIPT)
    if not headed:
        await context.add_init_script(outer_size_script(identity.viewport))
    page = await context.new_page()
    guard = None if guarded_by is None else await Guard.install(page, guarded_by)
    wear = Wear(since_seconds=now_seconds)
    slot = Slot(context=context, page=page, home=home, wear=wear, guard=guard, identity=identity)
    if not headed:
        slot.surface = await Surface.shrink(page, identity.viewport)
    if identity.headers:
        slot.sender = HeaderSender(context, identity.headers)
        await slot.sender.install(page)
    if guard is None:
        slot.downloads = await Downloads.attach(context, quarantine, from_afar=home.main is None)
    page.on("crash", lambda _: setattr(slot, "crashed", True))
    return slot
