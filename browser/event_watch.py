"""What happens on a page while it is acted on.

Invariant: no dialog, window or download holds up the action, and each is an event of it. Unlike a load, which closes
every window that nobody asked for, an action is followed into the window it opens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from types import TracebackType
from typing import Any

from playwright.async_api import CDPSession, ConsoleMessage, Dialog, Download, Frame, Page, Request, Response
from playwright.async_api import Error as PlaywrightError
from yarl import URL

from browser.observation import EventKind, PageEvent

_CLOSE_SECONDS = 2.0
_POPUP_SECONDS = 5.0
_MAX_EVENTS = 20
_MAX_TEXT = 300
_READING = ("GET", "HEAD", "OPTIONS")
_NO_PAGE = (204, 205)  # the browser stays where it is


class EventWatch:
    """Watches one page during one action.

    Args:
        page: The page acted on.
        accept: Whether its questions are answered with yes.

    Resource handling: an asynchronous context manager. It owns the tasks that answer dialogs and refuse downloads, and
    a CDP session; leaving it waits for them for a bounded time.
    """

    def __init__(self, page: Page, *, accept: bool) -> None:
        self._page = page
        self._accept = accept
        self._session: CDPSession | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._under_way: set[Request] = set()
        self._news = asyncio.Event()
        self._windows: list[str] = []
        self._popups: list[Page] = []
        self.events: list[PageEvent] = []
        """What happened, in order; at most twenty."""
        self.origins: set[str] = set()
        """Origins that were sent something."""
        self.failed: Request | None = None
        """The navigation that ended at the browser's own error page; None where none did."""
        self._handlers: dict[str, Callable[[Any], None]] = {
            "dialog": self._on_dialog,
            "popup": self._on_popup,
            "download": self._on_download,
            "console": self._on_console,
            "framenavigated": self._on_navigated,
            "request": self._on_request,
            "response": self._on_response,
            "requestfailed": self._on_failed,
        }

    async def __aenter__(self) -> EventWatch:
        async with asyncio.timeout(_CLOSE_SECONDS):
            self._session = await self._page.context.new_cdp_session(self._page)
            await self._session.send("Page.enable")
        # A new window is announced before the click that opens it is over; the window itself comes later.
        self._session.on("Page.windowOpen", lambda opened: self._windows.append(opened["url"]))
        for name, handler in self._handlers.items():
            self._page.on(name, handler)  # type: ignore[call-overload]  # names and handlers fit by construction
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name, handler in self._handlers.items():
            self._page.remove_listener(name, handler)
        if self._session is not None:
            self._start(self._session.detach())
        try:
            await asyncio.wait(self._tasks, timeout=_CLOSE_SECONDS)
        finally:
            for task in self._tasks:
                task.cancel()

    async def followed(self, *, navigate_seconds: float) -> Page | None:
        """Return the window the action opened, once it shows what it was opened for; None where it opened none."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_POPUP_SECONDS):
                while len(self._popups) < len(self._windows):
                    await self._next()
        popups = [popup for popup in self._popups if not popup.is_closed()]
        if not popups:
            return None
        popup = popups[-1]
        if self._windows and self._windows[-1] not in ("", "about:blank"):
            with suppress(PlaywrightError):  # what it shows then, is read
                await popup.wait_for_url(
                    lambda url: url != "about:blank", wait_until="commit", timeout=navigate_seconds * 1000
                )
        self._note("popup", f"A new tab opened and is shown; the old one is kept. The new one is at {popup.url}")
        return popup

    @property
    def navigating(self) -> bool:
        """Whether the page is on its way to another document."""
        return bool(self._under_way)

    async def arrived(self, *, seconds: float) -> None:
        """Wait until it is there, or until the navigation has failed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._under_way:
                    await self._next()
        self._under_way.clear()

    async def _next(self) -> None:
        self._news.clear()
        await self._news.wait()

    def _on_dialog(self, dialog: Dialog) -> None:
        if dialog.type == "beforeunload":  # dismissing that one would mean to stay
            self._start(dialog.accept())
            return
        accept = self._accept or dialog.type == "alert"
        answer = "closed" if dialog.type == "alert" else f"answered with {'yes' if accept else 'no'}"
        self._note("dialog", f"The page showed a dialog ({dialog.type}), which was {answer}: {dialog.message}")
        self._start(dialog.accept(dialog.default_value) if accept else dialog.dismiss())

    def _on_popup(self, popup: Page) -> None:
        self._popups.append(popup)
        self._news.set()

    def _on_download(self, download: Download) -> None:
        self._note("download", f"The page offered a file, which was not kept: {download.suggested_filename}")
        self._under_way.clear()
        self._news.set()
        self._start(download.cancel())

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            self._note("console-error", f"The page logged an error: {message.text}")

    def _on_navigated(self, frame: Frame) -> None:
        if frame != self._page.main_frame:
            return
        self._under_way.clear()
        self._news.set()
        if not frame.url.startswith("chrome-error:"):
            self.events = [event for event in self.events if event.kind != "navigation"]
            self._note("navigation", f"The page is now {frame.url}")

    def _on_request(self, request: Request) -> None:
        if request.method not in _READING:
            self.origins.add(str(URL(request.url).origin()))
        if request.is_navigation_request() and request.frame == self._page.main_frame:
            self._under_way.add(request)
            self.failed = None

    def _on_response(self, response: Response) -> None:
        if response.status in _NO_PAGE:
            self._ended(response.request)
        if response.status >= 400 and response.request.resource_type in ("fetch", "xhr", "document"):
            self._note("failed-request", f"{response.request.method} {response.url} answered {response.status}")

    def _on_failed(self, request: Request) -> None:
        reason = request.failure or ""
        if request in self._under_way:
            self.failed = request if "ERR_ABORTED" not in reason else None
            self._ended(request)
        if "ERR_ABORTED" not in reason and "ERR_BLOCKED" not in reason:
            self._note("failed-request", f"{request.method} {request.url} failed: {reason}")

    def _ended(self, request: Request) -> None:
        self._under_way.discard(request)
        self._news.set()

    def _note(self, kind: EventKind, text: str) -> None:
        if len(self.events) < _MAX_EVENTS:
            short = text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"
            self.events.append(PageEvent(kind=kind, text=short))

    def _start(self, answer: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(_unless_gone(answer), name="page event")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _unless_gone(answer: Coroutine[Any, Any, None]) -> None:
    with suppress(PlaywrightError):
        await answer
