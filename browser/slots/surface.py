"""The picture of a page that nobody looks at, drawn as small as it can be without the page noticing.

Invariant: to the page, and to whoever acts on it, its window is of the size that its identity says. Only what Chromium
draws is smaller: the tiles of the page and the buffer of its window (measured: a page of documentation takes about half
the memory then).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from browser.session.identity import Viewport

_DRAWN = Viewport(width=320, height=200)
_FRAME_SECONDS = 1.0  # for a page that is busy, or stands at a dialog, to draw again
_NEXT_FRAME = "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"


def outer_size_script(viewport: Viewport) -> str:
    """Return the init script that says the window is as large as the page: its own size is all that shows otherwise."""
    return "\n".join(
        f'Object.defineProperty(window, "{name}", '
        f"{{ value: {pixels}, writable: true, enumerable: true, configurable: true }});"
        for name, pixels in (("outerWidth", viewport.width), ("outerHeight", viewport.height))
    )


class Surface:
    """What is drawn of one page; `shrink()` makes it small.

    Args:
        page: The page.
        session: A CDP session with it; what it has set holds as long as it is open.
        viewport: The size that the page sees.

    Resource handling: the session goes with the page.
    """

    def __init__(self, page: Page, session: CDPSession, viewport: Viewport) -> None:
        self._page = page
        self._session = session
        self._viewport = viewport

    @classmethod
    async def shrink(cls, page: Page, viewport: Viewport) -> Surface:
        """Draw little of a page, before it loads anything; windows that it opens are left as they are.

        Raises:
            PlaywrightError: The browser died.
        """
        session = await page.context.new_cdp_session(page)
        surface = cls(page, session, viewport)
        size = {"width": viewport.width, "height": viewport.height}
        screen = {"screenWidth": viewport.width, "screenHeight": viewport.height}
        metrics = {**size, **screen, "deviceScaleFactor": 1, "mobile": False, "dontSetVisibleSize": True}
        await session.send("Emulation.setDeviceMetricsOverride", metrics)
        with suppress(PlaywrightError):  # not every Chromium has a window for it; without one there is no buffer
            window = await session.send("Browser.getWindowForTarget")
            bounds = {"width": _DRAWN.width, "height": _DRAWN.height}
            await session.send("Browser.setWindowBounds", {"windowId": window["windowId"], "bounds": bounds})
        await surface._draw(_DRAWN)  # fails where the browser died meanwhile
        return surface

    @asynccontextmanager
    async def whole(self, page: Page) -> AsyncIterator[None]:
        """Draw all of a page while somebody acts on it, where that matters.

        A frame in a process of its own gets the clicks on it from whoever draws, so only where it is drawn: elsewhere
        they would be lost without a word. Everything else gets them from its page.
        """
        if page is not self._page or len(page.frames) == 1:
            yield
            return
        with suppress(PlaywrightError, TimeoutError):  # whoever acts will see what is wrong
            async with asyncio.timeout(_FRAME_SECONDS):
                await self._draw(self._viewport)
                await page.evaluate(_NEXT_FRAME)
        try:
            yield
        finally:
            with suppress(PlaywrightError):  # the page may be gone
                await self._draw(_DRAWN)

    async def _draw(self, size: Viewport) -> None:
        await self._session.send("Emulation.setVisibleSize", {"width": size.width, "height": size.height})
