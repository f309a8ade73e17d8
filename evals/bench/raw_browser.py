"""Plain Playwright, to compare with: the product's browser and flags, none of what the product does with them.

Invariant: its pages go directly to the site, in contexts of their own with nothing installed in them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Literal, Protocol

from browser.pool import BrowserPool, PoolOptions, Slot
from browser.session.identity import VIEWPORT

LOOPBACK = "127.0.0.1"


class RawPage(Protocol):
    """What is used of Playwright's `Page`."""

    @property
    def url(self) -> str:
        """Where it is."""

    async def goto(self, url: str, *, wait_until: Literal["commit", "load"] | None = None) -> object:
        """Navigate."""

    async def evaluate(self, expression: str, arg: Any = None) -> Any:
        """Run a function in the page."""

    async def content(self) -> str:
        """Return the document as HTML."""


class RawBrowser:
    """A browser in which plain pages are opened; `opened()` starts one.

    Args:
        slot: A slot of a pool, held so that the pool keeps its browser; nothing is done in it.
        proxy: The pool's way out, which is gone round.
        stack: Closes what is opened.
    """

    def __init__(self, slot: Slot, proxy: str, stack: AsyncExitStack) -> None:
        self._slot = slot
        self._proxy = proxy
        self._stack = stack

    @classmethod
    @asynccontextmanager
    async def opened(cls) -> AsyncIterator[RawBrowser]:
        """Start a browser for the length of the block."""
        async with BrowserPool(PoolOptions(speculation_slots=0)) as pool, AsyncExitStack() as stack:
            slot = await pool.foreground()
            stack.push_async_callback(pool.discard, slot)
            yield cls(slot, pool.egress.url, stack)

    async def page(self) -> RawPage:
        """Open a page in a context of its own; both are closed with the browser."""
        browser = self._slot.context.browser
        assert browser is not None  # noqa: S101 - a launched browser's context has one; tells the type checker
        context = await browser.new_context(
            viewport={"width": VIEWPORT.width, "height": VIEWPORT.height},
            proxy={"server": self._proxy, "bypass": LOOPBACK},
        )
        self._stack.push_async_callback(context.close)
        page: RawPage = await context.new_page()
        return page


async def leave_document(page: RawPage, url: str) -> None:
    """Leave a document that a hash route would stay in: a load is the load of a document, for every program alike."""
    if "#" in url and page.url.partition("#")[0] == url.partition("#")[0]:
        await page.goto("about:blank")
