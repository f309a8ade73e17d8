"""What must be in an observation of a page for it to count: the page's own first and last text, and some in between.

Invariant: texts come from long, careful loads, two of each page, in two contexts; a page that differs is not used. They
are compared by their letters and digits alone, so that HTML and markdown are held to the same.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from urllib.parse import urldefrag

import aiohttp
import numpy as np
from bs4 import BeautifulSoup

from evals.bench.raw_browser import RawPage, leave_document

_LOOK_SECONDS = 0.25
_CAP_SECONDS = 20.0
_LEAST_CHARACTERS = 12  # of a text that is looked for
_MOST_CHARACTERS = 80
_LEAST_OWN_CHARACTERS = 100  # of a page that is worth reading
_MOST_TEXTS = 12

_TEXTS = """() => {
  const walker = document.createTreeWalker(document.body ?? document, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode;
    if (data.trim() && parentElement?.checkVisibility({ visibilityProperty: true })) texts.push(data);
  }
  return texts;
}"""
_LINKS = "() => [...document.querySelectorAll('a[href]')].map((link) => link.href)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What is known of one page.

    Attributes:
        path: Its address, without scheme and host.
        texts: From its first to its last, as they stand in the document; no other of the pages has them.
    """

    path: str
    texts: tuple[str, ...]

    def complete(self, text: str) -> bool:
        """Whether an observation, as markdown or plain text, has all of them."""
        letters = squash(text)
        return all(squash(mark)[:_MOST_CHARACTERS] in letters for mark in self.texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    path: str
    texts: tuple[str, ...]
    links: tuple[str, ...]


def squash(text: str) -> str:
    """Keep letters and digits only."""
    return re.sub(r"[\W_]+", "", text).casefold()


def text_of(html: str) -> str:
    """Return the text of a document, as it stands between its tags."""
    soup = BeautifulSoup(html, "lxml")
    for element in soup(["script", "style", "template"]):
        element.decompose()
    return soup.get_text(" ")


async def find_contents(
    pages: Sequence[RawPage], base: str, starts: Sequence[str], *, wanted: int, quiet_seconds: float = 1.5
) -> tuple[Contents, ...]:
    """Follow a site's links, those of one page in random order, until enough pages are known.

    Args:
        pages: Two or more pages to load with, each in a context of its own.
        base: The site's address, without a path.
        starts: The paths to begin with.
        wanted: How many pages.
        quiet_seconds: For how long a page must not have changed.
    """
    see_all = partial(_see_all, base=base, quiet_seconds=quiet_seconds)
    random = Random(0)  # noqa: S311 - a sample, no secret
    seen: list[_Seen] = []
    queue, known = list(starts), {_name(start) for start in starts}
    while queue and len(seen) < wanted:
        batch, queue = queue[: len(pages)], queue[len(pages) :]
        for found in await see_all(pages, batch):
            if found.texts in {other.texts for other in seen}:
                continue  # the same page under another address
            seen.append(found)
            for link in random.sample(found.links, len(found.links)):
                path = link.removeprefix(base)
                if link.startswith(f"{base}/") and _name(path) not in known:
                    known.add(_name(path))
                    queue.append(path)
    again = {found.path: found for found in await see_all(pages[::-1], [found.path for found in seen])}
    return tuple(
        contents
        for found in seen
        if (contents := _contents(found, seen)) and contents == _contents(again.get(found.path), seen)
    )


def _name(path: str) -> str:
    """Leave out fragments that only scroll; one that starts with a slash or `!` is a route, its query a place in it."""
    bare, fragment = urldefrag(path)
    return f"{bare}#{fragment.partition('?')[0]}" if fragment.startswith(("/", "!")) else bare


async def _see_all(pages: Sequence[RawPage], paths: Sequence[str], *, base: str, quiet_seconds: float) -> list[_Seen]:
    results: dict[str, _Seen] = {}
    waiting = iter(paths)

    async def work(page: RawPage) -> None:
        for path in waiting:
            if await _is_page(base + path):
                results[path] = await _see(page, base, path, quiet_seconds=quiet_seconds)

    async with asyncio.TaskGroup() as group:
        for page in pages:
            group.create_task(work(page))
    return [results[path] for path in paths if path in results]


async def _is_page(url: str) -> bool:
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return response.status == 200 and response.content_type == "text/html"


async def _see(page: RawPage, base: str, path: str, *, quiet_seconds: float) -> _Seen:
    """Load a page and wait until its text has not changed for long."""
    await leave_document(page, base + path)
    await page.goto(base + path, wait_until="load")
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _CAP_SECONDS
    texts, since = await page.evaluate(_TEXTS), loop.time()
    while loop.time() < deadline and loop.time() - since < quiet_seconds:
        await asyncio.sleep(_LOOK_SECONDS)
        now = await page.evaluate(_TEXTS)
        if now != texts:
            texts, since = now, loop.time()
    return _Seen(path=path, texts=tuple(texts), links=tuple(await page.evaluate(_LINKS)))


def _contents(found: _Seen | None, all_seen: Collection[_Seen]) -> Contents | None:
    if found is None:
        return None
    shown_by = Counter(text for seen in all_seen for text in {squash(text) for text in seen.texts})
    letters = {text: squash(text) for text in found.texts}
    whole = "".join(map(squash, found.texts))
    # What stands there twice says nothing of how much of the page has come.
    own = [
        text
        for text, mark in letters.items()
        if shown_by[mark] <= 1 and len(mark) >= _LEAST_CHARACTERS and whole.count(mark) == 1
    ]
    if sum(len(letters[text]) for text in own) < _LEAST_OWN_CHARACTERS:
        return None
    chosen = np.linspace(0, len(own) - 1, num=min(_MOST_TEXTS, len(own))).round().astype(int)
    return Contents(path=found.path, texts=tuple(own[number] for number in chosen))
