"""What happens to a page that no reader asked for: dialogs, new windows, downloads, error pages.

Invariant: none of it holds up a load, and all of it is noted.
"""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import Coroutine
from contextlib import suppress
from types import TracebackType
from typing import Any
from urllib.parse import urldefrag

from playwright.async_api import Dialog, Download, Frame, Page, Request, Response
from playwright.async_api import Error as PlaywrightError

from browser.downloads.announcement import announce_stay
from browser.downloads.file_text import read_file
from browser.downloads.quarantine import safe_name
from browser.downloads.watch import Downloads
from browser.observation import Document
from browser.observation import Download as File
from browser.reading.load_options import LoadOptions

_CLOSE_SECONDS = 2.0
_MAX_NOTES = 10
_MAX_TEXT = 300
_DEFAULT = LoadOptions()


class Incidents:
    """Watches one page during one load.

    Args:
        page: The page.
        downloads: Takes in the file that comes in place of a page; None: none is taken in.
        options: Limits of that.

    Resource handling: an asynchronous context manager. It owns the tasks that dismiss, close and cancel; leaving it
    waits for them for a bounded time.

    Attributes:
        notes: What happened, in sentences, in order; at most ten.
    """

    def __init__(self, page: Page, *, downloads: Downloads | None = None, options: LoadOptions = _DEFAULT) -> None:
        self._page = page
        self._downloads = downloads
        self._options = options
        self._tasks: set[asyncio.Task[None]] = set()
        self._offered = asyncio.Event()
        self._offer: Download | None = None
        self._error_page = asyncio.Event()
        self._failed: Request | None = None
        self.notes: list[str] = []

    async def __aenter__(self) -> Incidents:
        if self._downloads is not None:
            for file in self._downloads.refuse():
                self._note(f"A file came after the last action, and was put aside: {_short(file.name)}")
            self._downloads.want(self._options)
        self._page.on("dialog", self._on_dialog)
        self._page.on("popup", self._on_popup)
        self._page.on("download", self._on_download)
        self._page.on("framenavigated", self._on_navigated)
        self._page.on("requestfailed", self._on_failed)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._page.remove_listener("dialog", self._on_dialog)
        self._page.remove_listener("popup", self._on_popup)
        self._page.remove_listener("download", self._on_download)
        self._page.remove_listener("framenavigated", self._on_navigated)
        self._page.remove_listener("requestfailed", self._on_failed)
        self.expect_no_file()
        try:
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=_CLOSE_SECONDS)
        finally:
            for task in self._tasks:
                task.cancel()

    @property
    def failed_url(self) -> str | None:
        """The address the page's own document could not be had from, behind its redirects; None where it was."""
        return self._failed.url if self._failed else None

    def expect_no_file(self) -> None:
        """There is a page: what it offers by itself is not taken in."""
        if self._downloads is not None:
            self._downloads.refuse()

    async def file(self, url: str, *, seconds: float) -> Document:
        """Return what came in place of a page; it is offered a little after the navigation has failed.

        Args:
            url: The address that was asked for.
            seconds: How long to wait for the offer; the file itself has limits of its own.
        """
        await _wait(self._offered, seconds)
        self.notes.clear()  # the document says it
        files = await self._downloads.taken() if self._downloads else []
        response = await self.failed_response()
        for file in files:
            if urldefrag(file.url).url == urldefrag(self.failed_url or "").url:
                return await read_file(file, requested_url=url, response=response, options=self._options)
        name = safe_name(self._offer.suggested_filename) if self._offer else "unnamed"
        content_type = mimetypes.guess_type(name)[0] or ""
        return Document(
            requested_url=url,
            url=url,
            content_type=content_type,
            download=File(name=name, url=url, content_type=content_type, problem="was not kept"),
            problem=f"{url} is a download ({name}), not a page; the file was not kept.",
        )

    async def failed_response(self) -> Response | None:
        """Return the answer that was no page; None where there was none."""
        with suppress(PlaywrightError):
            return await self._failed.response() if self._failed else None
        return None

    async def wait_for_error_page(self, *, seconds: float) -> None:
        """Wait until the browser shows its own page for a navigation that failed, which it does a little later."""
        await _wait(self._error_page, seconds)

    def _on_dialog(self, dialog: Dialog) -> None:
        if dialog.type == "beforeunload":  # dismissing that one would mean to stay
            self._start(dialog.accept())
            return
        self._note(f"The page showed a dialog ({dialog.type}), which was dismissed: {_short(dialog.message)}")
        self._start(dialog.dismiss())

    def _on_popup(self, popup: Page) -> None:
        self._note(f"The page opened a window, which was closed: {_short(popup.url)}")
        self._start(popup.close())

    def _on_download(self, download: Download) -> None:
        name = _short(download.suggested_filename)
        where = f", at {_short(download.url)}" if download.url.startswith("http") else ""
        self._note(f"The page offered a file for download, which was not kept: {name}{where}")
        self._offer = self._offer or download
        self._offered.set()
        self._start(announce_stay(self._page))
        if self._downloads is None:
            self._start(download.cancel())

    def _on_failed(self, request: Request) -> None:
        if request.is_navigation_request() and request.frame == self._page.main_frame:
            self._failed = request

    def _on_navigated(self, frame: Frame) -> None:
        if frame == self._page.main_frame and frame.url.startswith("chrome-error:"):
            self._error_page.set()

    def _note(self, text: str) -> None:
        if len(self.notes) < _MAX_NOTES:
            self.notes.append(text)

    def _start(self, answer: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(_unless_gone(answer), name="incident")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


async def _unless_gone(answer: Coroutine[Any, Any, None]) -> None:
    with suppress(PlaywrightError):
        await answer


def _short(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"
