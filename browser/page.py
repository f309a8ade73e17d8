"""Loading one page: go there, wait until it can be read, read it at once, render it beside the event loop.

Invariant: whatever the address and the page do, `load` ends within its limits, and the page can be loaded again
afterwards, or is closed, or `SlotCrashed` says that it is dead. This module is the one edge at which errors of
Playwright are mapped.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from urllib.parse import urldefrag

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Response

from browser.downloads.watch import Downloads
from browser.errors import SlotCrashed
from browser.observation import Control, Document, Link, Readiness, Timings
from browser.reading.failure import describe, is_dead
from browser.reading.habits import Habits
from browser.reading.incidents import Incidents
from browser.reading.load_options import LoadOptions
from browser.reading.loop_courtesy import loop_courtesy
from browser.reading.scripts import INIT_SCRIPT
from browser.reading.snapshot import Snapshot, read
from browser.renderer import render, render_text

__all__ = ["INIT_SCRIPT", "LoadOptions", "load", "read_again"]

_LEAVE_SECONDS = 2.0
_AFTERMATH_SECONDS = 1.0
_KEPT_HEADERS = (
    "age",
    "cache-control",
    "cf-speculation-refused",
    "date",
    "expires",
    "last-modified",
    "no-vary-search",
    "retry-after",
    "vary",
)
_NO_TEXT = ("image/", "audio/", "video/", "font/", "application/pdf", "application/octet-stream")
_DEFAULT = LoadOptions()


async def load(
    page: Page,
    url: str,
    *,
    options: LoadOptions = _DEFAULT,
    habits: Habits | None = None,
    failure: Callable[[str], str | None] = lambda _: None,
    downloads: Downloads | None = None,
) -> Document:
    """Load a URL with a full document load, and read what a person would see there.

    A load that fails (unknown host, TLS, timeout, nothing to read) is a document whose `problem` says why. What
    `habits` knows of the page makes the wait shorter; what this load shows of it is added. Where the way to the network
    knows better than the browser why an address could not be reached, `failure` says it. Where the address is that of a
    file, `downloads` takes it in, and the page goes on to show what it showed; without it, the file is refused.

    Cancellation: a page that was not yet read is left at `about:blank`, so that it neither goes on loading nor gets in
    the next load's way.

    Raises:
        SlotCrashed: The page, its context or its browser died.
    """
    started = time.perf_counter()
    habits = Habits() if habits is None else habits
    response: Response | None = None
    async with Incidents(page, downloads=downloads, options=options) as incidents:
        try:
            response = await _go(page, url, options)
            incidents.expect_no_file()
            committed = time.perf_counter()
            refresh = response.headers.get("refresh", "") if response else ""
            snapshot = await read(page, options=options, habit=habits.expected(url), refresh=refresh)
        except asyncio.CancelledError:
            await _leave(page)
            raise
        except TimeoutError:
            await _abandon(page)
            document = _failed(url, f"{url} cannot be read: its scripts keep the browser busy without end.")
        except PlaywrightError as error:
            document = await _explain(page, url, error, incidents=incidents, options=options)
            known = failure(incidents.failed_url or url) if document.problem else None
            waited = Timings(commit_seconds=time.perf_counter() - started)
            document = replace(document, problem=known or document.problem, timings=waited)
            response = await incidents.failed_response() if document.download else None
        else:
            habits.learn(url, snapshot.seen_habit())
            timings = _timings(snapshot, started=started, committed=committed)
            document = await _document(url, snapshot, timings, options=options)
        return replace(document, incidents=tuple(incidents.notes), headers=_kept(response, document))


async def read_again(page: Page, *, options: LoadOptions = _DEFAULT, numbered: Document | None = None) -> Document:
    """Read what a page shows now, once it is ready again after something was done on it.

    Elements that `numbered`, the last reading of this page, has numbers for keep them; new ones get greater numbers.

    Raises:
        SlotCrashed: The page, its context or its browser died.
    """
    started = time.perf_counter()
    try:
        snapshot = await read(page, options=options, numbered=numbered)
    except TimeoutError:
        await _abandon(page)
        return _failed(page.url, f"{page.url} cannot be read: its scripts keep the browser busy without end.")
    except PlaywrightError as error:
        if page.is_closed() or is_dead(error.message):
            raise SlotCrashed(f"The browser's page died while {page.url} was being read") from error
        return _failed(
            page.url, describe(error.message, url=page.url, timeout_seconds=options.navigate_timeout_seconds)
        )
    timings = _timings(snapshot, started=started, committed=started)
    return await _document(snapshot.url, snapshot, timings, options=options)


async def _go(page: Page, url: str, options: LoadOptions) -> Response | None:
    if "#" in url and urldefrag(url).url == urldefrag(page.url).url:
        # It would stay in the document, and a hash route would show the old text under the new address.
        await page.goto("about:blank", timeout=_LEAVE_SECONDS * 1000)
    milliseconds = options.navigate_timeout_seconds * 1000
    try:
        return await page.goto(url, wait_until="commit", timeout=milliseconds)
    except PlaywrightError as error:
        # The page before this one had an own navigation under way.
        if "interrupted by another navigation" not in error.message:
            raise
        return await page.goto(url, wait_until="commit", timeout=milliseconds)


def _timings(snapshot: Snapshot, *, started: float, committed: float) -> Timings:
    read_seconds = snapshot.readMilliseconds / 1000
    settle_seconds = max(0.0, time.perf_counter() - committed - read_seconds)
    return Timings(commit_seconds=committed - started, settle_seconds=settle_seconds, read_seconds=read_seconds)


def _kept(response: Response | None, document: Document) -> dict[str, str]:
    """Return the headers that say how the document may be used; none where a script led on to another one."""
    if response is None or urldefrag(response.url).url != urldefrag(document.url).url:
        return {}
    return {name: value for name, value in response.headers.items() if name in _KEPT_HEADERS}


async def _document(url: str, snapshot: Snapshot, timings: Timings, *, options: LoadOptions) -> Document:
    content_type = snapshot.contentType.lower()
    document = Document(
        requested_url=url,
        url=snapshot.url,
        status=snapshot.status,
        content_type=content_type,
        title=snapshot.title,
        timings=timings,
    )
    if content_type.startswith(_NO_TEXT):
        return replace(document, problem=f"{url} is no page with text, it is {content_type}.")
    started = time.perf_counter()
    with loop_courtesy.held():
        markdown = await _markdown(snapshot, content_type)
        links = await asyncio.to_thread(_links, snapshot.links)
        controls = await asyncio.to_thread(_controls, snapshot.controls)
    return replace(
        document,
        markdown=markdown,
        links=links,
        controls=controls,
        readiness=Readiness(snapshot.readiness),
        timings=replace(timings, render_seconds=time.perf_counter() - started),
        notes=(*snapshot.notes, *_cut(snapshot.full, options)),
        unread_frames=snapshot.unreadFrames,
    )


async def _markdown(snapshot: Snapshot, content_type: str) -> str:
    if snapshot.raw:
        return await asyncio.to_thread(render_text, snapshot.chunks, content_type=content_type)
    # One turn in a thread for each piece: a load that is cancelled does not go on rendering, and pages share the time.
    pieces = [await asyncio.to_thread(render, chunk) for chunk in snapshot.chunks]
    return "\n\n".join(filter(None, pieces))


def _links(batches: Sequence[str]) -> tuple[Link, ...]:
    rows = (row for batch in batches for row in json.loads(batch))
    return tuple(Link(**row | {"other_texts": tuple(row.get("other_texts", ()))}) for row in rows)


def _controls(batches: Sequence[str]) -> tuple[Control, ...]:
    return tuple(Control(**row) for batch in batches for row in json.loads(batch))


def _cut(full: str, options: LoadOptions) -> tuple[str, ...]:
    if not full:
        return ()
    if full == "time":
        return (f"The page was cut: reading all of it takes longer than {options.read_cap_seconds:g} seconds.",)
    limit = getattr(options, f"max_{full}")
    return (f"The page was cut: it has more than {limit} {full}.",)


async def _explain(
    page: Page, url: str, error: PlaywrightError, *, incidents: Incidents, options: LoadOptions
) -> Document:
    """Say why a load failed.

    Raises:
        SlotCrashed: The page is dead.
    """
    message = error.message.removeprefix("Page.goto: ").removeprefix("Page.evaluate: ")
    # A renderer that dies under a navigation aborts it first, and is known to be dead a moment later.
    if page.is_closed() or is_dead(message) or ("ERR_ABORTED" in message and not await _answers(page)):
        raise SlotCrashed(f"The browser's page died while it loaded {url}") from error
    if "Download is starting" in message:
        return await incidents.file(url, seconds=_AFTERMATH_SECONDS)
    if "net::ERR_" in message and "ERR_ABORTED" not in message:
        await incidents.wait_for_error_page(seconds=_AFTERMATH_SECONDS)  # else it comes in the next load's way
    return _failed(url, describe(message, url=url, timeout_seconds=options.navigate_timeout_seconds))


async def _answers(page: Page) -> bool:
    with suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(_AFTERMATH_SECONDS):
            return bool(await page.evaluate("true"))
    return False


def _failed(url: str, problem: str) -> Document:
    return Document(requested_url=url, url=url, problem=problem)


async def _leave(page: Page) -> None:
    with suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(_LEAVE_SECONDS):
            await page.goto("about:blank", wait_until="commit")


async def _abandon(page: Page) -> None:
    """Close a page whose scripts never end: no other page can be loaded in it."""
    with suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(_LEAVE_SECONDS):
            await page.close()
