"""What the pages of one session start to download.

Invariant: no file grows beyond its limits, whoever started it and whether or not anybody waits for it; one that nobody
asked for is broken off. The driver hands a file out when it is whole, and never says how far it is: that is read over
CDP.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext, CDPSession, Page
from playwright.async_api import Download as Transfer
from playwright.async_api import Error as PlaywrightError

from browser.downloads.media_type import media_type
from browser.downloads.quarantine import Quarantine, safe_name
from browser.engine.closing import end_quietly
from browser.observation import Download
from browser.reading.load_options import LoadOptions

_MAX_AT_ONCE = 3
_MAX_WAITING = 10  # for somebody to take them
_MAX_ROWS = 100
_CLOSE_SECONDS = 2.0


@dataclass(slots=True, kw_only=True)
class _Row:
    """A download of this browser; it may be that of another session."""

    url: str
    name: str
    frame: str
    size_bytes: int = 0


@dataclass(slots=True, kw_only=True, eq=False)
class _Arrival:
    """A file on its way here."""

    transfer: Transfer
    options: LoadOptions
    size_bytes: int = 0

    @property
    def too_large(self) -> bool:
        return self.size_bytes > self.options.max_download_bytes


class Downloads:
    """Takes files in. Make it with `attach`; it refuses everything until `want` is called.

    Args:
        context: The session's pages.
        session: A CDP session with their browser.
        quarantine: Where the files are put.
        from_afar: Whether the browser is on another machine, whose files have to be sent here.

    Resource handling: owns a task for each file under way, and the CDP session; close it with `aclose()`.
    """

    def __init__(
        self, context: BrowserContext, session: CDPSession, quarantine: Quarantine, *, from_afar: bool = False
    ) -> None:
        self._context = context
        self._session = session
        self._quarantine = quarantine
        self._from_afar = from_afar
        self._wanted: LoadOptions | None = None
        self._rows: OrderedDict[str, _Row] = OrderedDict()
        self._arrivals: dict[asyncio.Task[Download], _Arrival] = {}
        self._ending: set[asyncio.Task[Any]] = set()
        self._news = asyncio.Event()

    @classmethod
    async def attach(cls, context: BrowserContext, quarantine: Quarantine, *, from_afar: bool = False) -> Downloads:
        """Begin to watch the pages of a context that accepts downloads."""
        assert context.browser is not None  # noqa: S101 - only contexts that are a whole profile have none
        session = await context.browser.new_browser_cdp_session()
        downloads = cls(context, session, quarantine, from_afar=from_afar)
        session.on("Browser.downloadWillBegin", downloads._on_begin)
        session.on("Browser.downloadProgress", downloads._on_progress)
        # That is all it changes: the browser tells how far downloads are, those of every context.
        await session.send("Browser.setDownloadBehavior", {"behavior": "default", "eventsEnabled": True})
        context.on("page", downloads._watch)
        for page in context.pages:
            downloads._watch(page)
        return downloads

    def want(self, options: LoadOptions) -> None:
        """Take in what begins from now on, within these limits."""
        self._wanted = options

    def refuse(self) -> list[Download]:
        """Break off what is under way and whatever begins from now on; return what has come and was not taken."""
        self._wanted = None
        arrivals = list(self._arrivals)
        self._drop(arrivals)
        return [task.result() for task in arrivals if task.done() and not task.cancelled()]

    async def begun(self, count: int, *, seconds: float) -> None:
        """Wait until so many have begun that were not taken yet."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while len(self._arrivals) < min(count, _MAX_WAITING):
                    self._news.clear()
                    await self._news.wait()

    async def taken(self) -> list[Download]:
        """Wait for all that have begun, which their limits bound, and hand them out once, in that order.

        Cancellation: they are broken off.
        """
        arrivals = list(self._arrivals)
        try:
            if arrivals:
                await asyncio.wait(arrivals)
            return [task.result() for task in arrivals]
        finally:
            self._drop(arrivals)

    def _drop(self, arrivals: Iterable[asyncio.Task[Download]]) -> None:
        for task in arrivals:
            self._arrivals.pop(task, None)
            if task.cancel():
                self._own(task)

    async def filled(self, window: Page) -> bool:
        """Tell whether what a new window was opened for turned out to be a file."""
        with suppress(PlaywrightError):
            session = await self._context.new_cdp_session(window)
            target = await session.send("Target.getTargetInfo")
            await session.detach()
            # A page's main frame has its target's id.
            return any(row.frame == target["targetInfo"]["targetId"] for row in self._rows.values())
        return False

    def _watch(self, page: Page) -> None:
        page.on("download", self._on_download)

    def _on_download(self, transfer: Transfer) -> None:
        if self._wanted is None or len(self._arrivals) >= _MAX_WAITING:
            self._break_off(transfer)
            return
        arrival = _Arrival(transfer=transfer, options=self._wanted)
        too_many = sum(not task.done() for task in self._arrivals) >= _MAX_AT_ONCE
        arriving = self._refused(arrival) if too_many else self._arrive(arrival)
        self._arrivals[asyncio.create_task(arriving, name="download")] = arrival
        for row in self._rows.values():
            self._measure(row)
        self._news.set()

    def _on_begin(self, event: dict[str, Any]) -> None:
        row = _Row(url=event["url"], name=event["suggestedFilename"], frame=event["frameId"])
        self._rows[event["guid"]] = row
        if len(self._rows) > _MAX_ROWS:
            self._rows.popitem(last=False)

    def _on_progress(self, event: dict[str, Any]) -> None:
        row = self._rows.get(event["guid"])
        if row is not None:
            under_way = event["state"] == "inProgress"
            row.size_bytes = int(max(event["totalBytes"], event["receivedBytes"])) if under_way else 0
            self._measure(row)

    def _measure(self, row: _Row) -> None:
        """Compare a size with the limit. Two sessions that load the same file at once are not told apart: no harm."""
        for arrival in self._arrivals.values():
            if (arrival.transfer.url, arrival.transfer.suggested_filename) == (row.url, row.name):
                was_too_large, arrival.size_bytes = arrival.too_large, max(arrival.size_bytes, row.size_bytes)
                if arrival.too_large and not was_too_large:
                    self._break_off(arrival.transfer)

    def _break_off(self, transfer: Transfer) -> None:
        cancelling: Coroutine[Any, Any, None] = end_quietly(transfer.cancel(), seconds=_CLOSE_SECONDS)
        self._own(asyncio.create_task(cancelling, name="break a download off"))

    def _own(self, task: asyncio.Task[Any]) -> None:
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _refused(self, arrival: _Arrival) -> Download:
        self._break_off(arrival.transfer)
        return replace(_announced(arrival.transfer), problem=f"was one too many: {_MAX_AT_ONCE} come at once")

    async def _arrive(self, arrival: _Arrival) -> Download:
        transfer, options = arrival.transfer, arrival.options
        came, sent = _announced(transfer), self._quarantine.place_for_arrival()
        try:
            async with asyncio.timeout(options.download_seconds):
                if self._from_afar:
                    await transfer.save_as(sent)
                file = sent if self._from_afar else Path(await transfer.path())
            return await asyncio.to_thread(self._admitted, came, file, options)
        except PlaywrightError:
            if arrival.too_large:
                return _too_large(came, arrival.size_bytes, options)
            return replace(came, problem="could not be had: the server, or the browser, broke it off")
        except TimeoutError:
            return replace(came, problem=f"did not come within {options.download_seconds:g} seconds")
        except OSError as error:
            return replace(came, problem=f"could not be put away: {error.strerror}")
        finally:
            self._break_off(transfer)  # no effect on one that is whole
            sent.unlink(missing_ok=True)

    def _admitted(self, came: Download, file: Path, options: LoadOptions) -> Download:
        size_bytes = file.stat().st_size
        if size_bytes > options.max_download_bytes:  # all of it came before anything was said of its size
            file.unlink()
            return _too_large(came, size_bytes, options)
        place = self._quarantine.admit(file, came.name)
        content_type = media_type(place, name=came.name)
        return replace(came, content_type=content_type, size_bytes=size_bytes, path=str(place))

    async def aclose(self) -> None:
        """Break everything off; bounded in time, and may be called twice."""
        self.refuse()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                while self._ending:  # what is broken off goes on to tell the browser
                    await asyncio.wait(self._ending)
        await end_quietly(self._session.detach(), seconds=_CLOSE_SECONDS)


def _announced(transfer: Transfer) -> Download:
    url = transfer.url.partition(",")[0] if transfer.url.startswith("data:") else transfer.url  # its content
    return Download(name=safe_name(transfer.suggested_filename), url=url)


def _too_large(came: Download, size_bytes: int, options: LoadOptions) -> Download:
    limit = options.max_download_bytes / 1e6
    return replace(came, size_bytes=size_bytes, cut=True, problem=f"is larger than {limit:g} MB, so it was broken off")
