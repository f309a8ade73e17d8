"""What happens to a page that no reader asked for: dialogs, new windows, downloads, error pages.

Invariant: none of it holds up a load, and all of it is noted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from types import TracebackType
from typing import Any

from playwright.async_api import Dialog, Download, Frame, Page, Request
from playwright.async_api import Error as PlaywrightError

_CLOSE_SECONDS = 2.0
_MAX_NOTES = 10
_MAX_TEXT = 300


class Incidents:
    """Watches one page during one load.

    Resource handling: an asynchronous context manager. It owns the tasks that dismiss, close and cancel; leaving it
    waits for them for a bounded time.

    Attributes:
        notes: What happened, in sentences, in order; at most ten.
        download: The name of the first file offered for download; None where there was none.
        failed_url: The address the page's own document could not be had from, behind its redirects; None where it was.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._tasks: set[asyncio.Task[None]] = set()
        self._downloading = asyncio.Event()
        self._error_page = asyncio.Event()
        self.notes: list[str] = []
        self.download: str | None = None
        self.failed_url: str | None = None

    async def __aenter__(self) -> Incidents:
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
        try:
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=_CLOSE_SECONDS)
        finally:
            for task in self._tasks:
                task.cancel()

    async def wait_for_download(self, *, seconds: float) -> str | None:
        """Name the file offered for download, which is known a little after the navigation has failed."""
        await _wait(self._downloading, seconds)
        return self.download

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
        self._note(f"The page offered a file for download, which was not kept: {_short(download.suggested_filename)}")
        self.download = self.download or download.suggested_filename
        self._downloading.set()
        self._start(download.cancel())

    def _on_failed(self, request: Request) -> None:
        if request.is_navigation_request() and request.frame == self._page.main_frame:
            self.failed_url = request.url

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
