"""What happens on a page while it is acted on.

Invariant: no dialog, window or file holds up the action, and each is an event of it. Unlike a load, which closes every
window that nobody asked for and refuses such files, an action is followed into the window it opens, and files that come
of it are taken in. What tabs do meanwhile that were open before is none of its business.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from types import TracebackType
from typing import Any

from playwright.async_api import CDPSession, ConsoleMessage, Dialog, Frame, Page, Request, Response, WebError
from playwright.async_api import Download as Transfer
from playwright.async_api import Error as PlaywrightError
from yarl import URL

from browser.downloads.announcement import announce_stay
from browser.downloads.file_text import read_file, told
from browser.downloads.watch import Downloads
from browser.observation import Document, Download, EventKind, PageEvent
from browser.reading.load_options import LoadOptions

_CLOSE_SECONDS = 2.0
_POPUP_SECONDS = 5.0
_MAX_EVENTS = 20
_MAX_TEXT = 300
_READING = ("GET", "HEAD", "OPTIONS")
_NO_PAGE = (204, 205)  # the browser stays where it is
_BLANK = ("", "about:blank")


class EventWatch:
    """Watches one page during one action, and the windows it opens.

    Args:
        page: The page acted on.
        accept: Whether its questions are answered with yes.
        options: Limits of what is waited for.
        downloads: Takes files in.

    Resource handling: an asynchronous context manager. It owns the tasks that answer dialogs, and a CDP session;
    leaving it waits for them for a bounded time.
    """

    def __init__(self, page: Page, *, accept: bool, options: LoadOptions, downloads: Downloads) -> None:
        self._page = page
        self._accept = accept
        self._options = options
        self._downloads = downloads
        self._bystanders = {other for other in page.context.pages if other is not page}
        self._session: CDPSession | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._under_way: set[Request] = set()
        self._answers: dict[str, Response] = {}
        self._news = asyncio.Event()
        self._windows: list[str] = []
        self._popups: list[Page] = []
        self.events: list[PageEvent] = []
        """What happened, in order; at most twenty."""
        self.origins: set[str] = set()
        """Origins that were sent something."""
        self.failed: Request | None = None
        """The navigation that ended at the browser's own error page; None where none did."""
        self._of_page: dict[str, Callable[[Any], None]] = {
            "popup": self._on_popup,
            "download": self._on_download,
            "framenavigated": self._on_navigated,
        }
        # A new window may speak before it can be listened to by itself.
        self._of_context: dict[str, Callable[[Any], None]] = {
            "dialog": self._on_dialog,
            "console": self._on_console,
            "weberror": self._on_error,
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
        for name, handler in self._of_page.items():
            self._page.on(name, handler)  # type: ignore[call-overload]  # names and handlers fit by construction
        for name, handler in self._of_context.items():
            self._page.context.on(name, handler)  # type: ignore[call-overload]
        self._downloads.want(self._options)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name, handler in self._of_page.items():
            self._page.remove_listener(name, handler)
        for name, handler in self._of_context.items():
            self._page.context.remove_listener(name, handler)
        if self._session is not None:
            self._start(self._session.detach())
        try:
            await asyncio.wait(self._tasks, timeout=_CLOSE_SECONDS)
        finally:
            for task in self._tasks:
                task.cancel()

    async def followed(self) -> Page | None:
        """Return the window the action opened, once it shows what it was opened for; None where it opened none."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_POPUP_SECONDS):
                while len(self._popups) < len(self._windows):
                    await self._next()
        if not self._popups:
            return None
        popup = next((popup for popup in reversed(self._popups) if not popup.is_closed()), self._popups[-1])
        has_page = not self._windows or self._windows[-1] in _BLANK or await self._shows_a_page(popup)
        if popup.is_closed():
            self._note_closed(popup)
            return None
        if not has_page:
            self._start(popup.close())
            return None
        self._note("popup", f"A new tab opened and is shown; the old one is kept. The new one is at {popup.url}")
        return popup

    async def _shows_a_page(self, popup: Page) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._options.navigate_timeout_seconds):
                while popup.url in _BLANK and not popup.is_closed():
                    if await self._downloads.filled(popup) or self._is_empty(popup):
                        return False
                    await self._next()
        return not popup.is_closed()  # where nothing came in time, that is read

    def _is_empty(self, popup: Page) -> bool:
        return any(answer.status in _NO_PAGE and _page_of(answer.request) is popup for answer in self._answers.values())

    def has_closed_again(self, window: Page) -> bool:
        """Tell whether a window that the action opened is gone, and the page is still there; note it."""
        if window not in self._popups or not window.is_closed() or self._page.is_closed():
            return False
        self.events = [event for event in self.events if event.kind != "popup"]
        self._note_closed(window)
        return True

    def _note_closed(self, window: Page) -> None:
        place = "" if window.url in _BLANK else f" It was at {window.url}"
        self._note("popup", f"A new tab opened, and closed itself again.{place}")

    @property
    def navigating(self) -> bool:
        """Whether the page is on its way to another document."""
        return bool(self._under_way)

    async def arrived(self) -> None:
        """Wait until it is there, or until the navigation has failed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._options.navigate_timeout_seconds):
                while self._under_way:
                    await self._next()
        self._under_way.clear()

    async def file(self) -> Document | None:
        """Wait for the files that come of the action; return the first with text that can be read."""
        files = [
            await read_file(file, requested_url=file.url, response=self._answers.get(file.url), options=self._options)
            for file in await self._downloads.taken()
        ]
        shown = next((file for file in files if file.problem is None), None)
        for file in files:
            self._note("download", told(file, is_shown=file is shown), download=file.download)
        return shown

    async def _next(self) -> None:
        self._news.clear()
        await self._news.wait()

    def _on_dialog(self, dialog: Dialog) -> None:
        if dialog.type == "beforeunload":  # dismissing that one would mean to stay
            self._start(dialog.accept())
            return
        if dialog.page in self._bystanders:
            self._start(dialog.dismiss())
            return
        accept = self._accept or dialog.type == "alert"
        answer = "closed" if dialog.type == "alert" else f"answered with {'yes' if accept else 'no'}"
        self._note("dialog", f"The page showed a dialog ({dialog.type}), which was {answer}: {dialog.message}")
        self._start(dialog.accept(dialog.default_value) if accept else dialog.dismiss())

    def _on_popup(self, popup: Page) -> None:
        self._popups.append(popup)
        for name in ("framenavigated", "download", "close"):
            popup.on(name, lambda _: self._news.set())
        self._news.set()

    def _on_download(self, transfer: Transfer) -> None:
        if any(request.url == transfer.url for request in self._under_way):
            self._under_way.clear()
        if not self._under_way:
            self._start(announce_stay(transfer.page))
        self._news.set()

    def _on_console(self, message: ConsoleMessage) -> None:
        is_own = message.type == "error" and message.page not in self._bystanders
        if is_own and not message.text.startswith("Failed to load resource"):
            self._note("console-error", f"The page logged an error: {message.text}")

    def _on_error(self, error: WebError) -> None:
        if error.page not in self._bystanders:
            self._note("console-error", f"A script of the page failed: {error.error}")

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
        if request.is_navigation_request() and _is_main(request, self._page):
            self._under_way -= {request.redirected_from}
            self._under_way.add(request)
            self.failed = None

    def _on_response(self, response: Response) -> None:
        request = response.request
        if request.is_navigation_request():
            self._answers[response.url] = response
            if response.status in _NO_PAGE:
                self._ended(request)
                self._start(announce_stay(self._page))
        is_loud = response.status >= 400 and request.resource_type in ("fetch", "xhr", "document")
        if is_loud and _page_of(request) not in self._bystanders:
            self._note("failed-request", f"{request.method} {response.url} answered {response.status}")

    def _on_failed(self, request: Request) -> None:
        reason = request.failure or ""
        is_failure = "ERR_ABORTED" not in reason
        if request.is_navigation_request() and _page_of(request) not in self._bystanders:
            self.failed = request if is_failure else self.failed
        self._ended(request)
        if is_failure and "ERR_BLOCKED" not in reason and _page_of(request) not in self._bystanders:
            self._note("failed-request", f"{request.method} {request.url} failed: {reason}")

    def _ended(self, request: Request) -> None:
        self._under_way.discard(request)
        self._news.set()

    def _note(self, kind: EventKind, text: str, *, download: Download | None = None) -> None:
        if len(self.events) < _MAX_EVENTS:
            short = text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"
            self.events.append(PageEvent(kind=kind, text=short, download=download))

    def _start(self, answer: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(_unless_gone(answer), name="page event")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _page_of(request: Request) -> Page | None:
    with suppress(PlaywrightError):  # it is older than what is known of its page
        return request.frame.page
    return None


def _is_main(request: Request, page: Page) -> bool:
    with suppress(PlaywrightError):
        return request.frame == page.main_frame
    return False


async def _unless_gone(answer: Coroutine[Any, Any, None]) -> None:
    with suppress(PlaywrightError):
        await answer
