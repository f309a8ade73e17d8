"""The programs that `navigate` compares, each with a warm browser, and as many readers side by side as are asked for.

Invariant: every reader keeps its context, and so its HTTP cache, from load to load, whatever program it belongs to; and
each takes the next page as soon as it has the one before.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from browser.action import Visit
from browser.environment import WebEnvironment
from browser.pool import BrowserPool
from evals.bench.contents import Contents, text_of
from evals.bench.raw_browser import LOOPBACK, RawBrowser, RawPage, leave_document

Read = Callable[[Contents], Awaitable[str]]

OURS, LOADED, IDEAL, CRAWLER = "ours", "raw, load event", "raw, ideal wait", "crawl4ai"
"""The programs: the product, plain Playwright in two forms, and crawl4ai."""

# The ideal wait: it knows the page's texts, and is told of every change of the document. Scripts may hold them as data.
_WAIT = """(texts) => new Promise((resolve) => {
  const shown = () => {
    const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
      const { data, parentElement } = walker.currentNode;
      if (!/^(script|style|template|noscript)$/.test(parentElement?.localName)) found.push(data);
    }
    return found.join("");
  };
  const has = (whole) => texts.every((text) => whole.includes(text));
  const look = () => {
    if (!has(document.documentElement?.textContent ?? "") || !has(shown())) return;
    observer.disconnect();
    resolve();
  };
  const observer = new MutationObserver(look);
  observer.observe(document, { childList: true, characterData: true, subtree: true });
  look();
  setTimeout(resolve, 30000);
})"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """One page, read.

    Attributes:
        seconds: From the address to the observation in hand.
        complete: Whether the page's own texts are in it, from the first to the last.
    """

    seconds: float
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Some pages, read by one program.

    Attributes:
        seconds: How long all of them took together.
        loads: In the order in which the pages were given.
    """

    seconds: float
    loads: tuple[Load, ...]


class PageReader(Protocol):
    """A program that reads pages."""

    name: str

    async def read(self, base: str, pages: Sequence[Contents], *, concurrency: int) -> Round:
        """Read pages of the site at an address, so many at once."""

    async def aclose(self) -> None:
        """Close what it holds; may be called twice."""


class OurReader:
    """The product: one session for each page that is read at once, all on one pool."""

    name = OURS

    def __init__(self, pool: BrowserPool) -> None:
        self._pool = pool
        self._sessions: list[WebEnvironment] = []

    async def read(self, base: str, pages: Sequence[Contents], *, concurrency: int) -> Round:
        """Read pages, each as one step of a session."""
        while len(self._sessions) < concurrency:
            self._sessions.append(WebEnvironment(self._pool, named_hosts={LOOPBACK}))

        def reader(session: WebEnvironment) -> Read:
            async def read(page: Contents) -> str:
                return (await session.step(Visit(base + page.path))).document.markdown

            return read

        return await _read_all(pages, [reader(session) for session in self._sessions[:concurrency]])

    async def aclose(self) -> None:
        """End the sessions."""
        while self._sessions:
            await self._sessions.pop().aclose()


class RawReader:
    """Plain Playwright: `goto()`, a wait, `content()`.

    Args:
        browser: Where its pages are opened.
        ideal: Whether it waits for the page's own texts, which nobody knows beforehand, or for the `load` event.
    """

    def __init__(self, browser: RawBrowser, *, ideal: bool) -> None:
        self.name = IDEAL if ideal else LOADED
        self._browser = browser
        self._ideal = ideal
        self._pages: list[RawPage] = []

    async def read(self, base: str, pages: Sequence[Contents], *, concurrency: int) -> Round:
        """Read pages, each as the HTML of the document."""
        while len(self._pages) < concurrency:
            self._pages.append(await self._browser.page())

        def reader(tab: RawPage) -> Read:
            async def read(page: Contents) -> str:
                url = base + page.path
                await leave_document(tab, url)
                await tab.goto(url, wait_until="commit" if self._ideal else "load")
                if self._ideal:
                    await tab.evaluate(_WAIT, list(page.texts))
                return await tab.content()

            return read

        return await _read_all(pages, [reader(tab) for tab in self._pages[:concurrency]], judged_as=text_of)

    async def aclose(self) -> None:
        """Leave its pages to the browser."""
        self._pages.clear()


async def _read_all(
    pages: Sequence[Contents], readers: Sequence[Read], *, judged_as: Callable[[str], str] = str
) -> Round:
    """Read pages with some readers at once; what was read is judged when the time has been taken."""
    waiting = iter(enumerate(pages))
    found: dict[int, tuple[float, str]] = {}

    async def work(read: Read) -> None:
        for number, page in waiting:
            started_seconds = time.perf_counter()
            text = await read(page)
            found[number] = time.perf_counter() - started_seconds, text

    started_seconds = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for read in readers:
            group.create_task(work(read))
    seconds = time.perf_counter() - started_seconds
    loads = [
        Load(seconds=found[number][0], complete=page.complete(judged_as(found[number][1])))
        for number, page in enumerate(pages)
    ]
    return Round(seconds=seconds, loads=tuple(loads))
