"""Adds a user's own headers to the requests of a context's pages.

Invariant: a request carries them only where its own address is one of their sites', behind every redirect too. What is
set on a page or a context as a whole would follow a redirect to a third party.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from playwright.async_api import BrowserContext, CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from browser.session.site_headers import SiteHeaders


class HeaderSender:
    """Adds headers to the requests of a context's pages.

    Every request is paused for it, which costs each about a millisecond; the HTTP cache stays on. A window that a page
    opens asks for its first document before it can be attached to: that request goes without them.

    Resource handling: owns the tasks that answer the browser; close it with `aclose()`, before its context.
    """

    def __init__(self, context: BrowserContext, headers: SiteHeaders) -> None:
        self._context = context
        self._headers = headers
        self._ours = {header.name.lower(): header.value for header in headers.headers}
        self._tasks: set[asyncio.Task[None]] = set()

    async def install(self, page: Page) -> None:
        """Begin with a page that has loaded nothing yet, and with every one its context opens.

        Raises:
            PlaywrightError: The browser died.
        """
        await self._attach(page)
        self._context.on("page", lambda opened: self._start(self._attach(opened)))

    async def _attach(self, page: Page) -> None:
        session = await self._context.new_cdp_session(page)
        session.on("Fetch.requestPaused", lambda paused: self._start(self._send_on(session, paused)))
        await session.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})

    async def _send_on(self, session: CDPSession, paused: dict[str, Any]) -> None:
        request, answer = paused["request"], {"requestId": paused["requestId"]}
        others = {name: value for name, value in request["headers"].items() if name.lower() not in self._ours}
        if self._headers.go_to(request["url"]):
            answer["headers"] = _listed({**others, **{header.name: header.value for header in self._headers.headers}})
        elif any(self._ours.get(name.lower()) == value for name, value in request["headers"].items()):
            answer["headers"] = _listed(others)  # they came along with a redirect
        await session.send("Fetch.continueRequest", answer)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(_unless_gone(work), name="headers")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """Wait for the last answers; the sessions go with their pages."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1.0)


def _listed(headers: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers.items()]


async def _unless_gone(work: Coroutine[Any, Any, None]) -> None:
    with suppress(PlaywrightError):
        await work
