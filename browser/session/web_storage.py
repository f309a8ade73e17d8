"""What a site has stored in a browser beside cookies: `localStorage`, and the `sessionStorage` of one tab.

Invariant: it is read and written for one origin at a time, in a document of that origin; no server is asked for one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError
from yarl import URL

_SECONDS = 5.0
_MAX_CHARACTERS = 200_000
_BLANK_PATH = "/.well-known/speccache"  # never reaches the server
# Databases of libraries that hold nothing a page shows by itself: docsify keeps the index of its search box in one.
_HARMLESS_DATABASES = "(firebase-(heartbeat-database|installations-database|messaging-database)|docsify)"

_READ = f"""async () => {{
  const items = (name) => {{
    try {{ return Object.entries(window[name]); }} catch {{ return []; }}
  }};
  let databases = [];
  try {{ databases = await indexedDB.databases(); }} catch {{}}
  const [local, tab] = [items("localStorage"), items("sessionStorage")];
  const size = [...local, ...tab].reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  const large = size > {_MAX_CHARACTERS};
  const opaque = large || databases.some(({{ name }}) => !/^{_HARMLESS_DATABASES}$/.test(name));
  return {{ origin: location.origin, local: large ? [] : local, tab: large ? [] : tab, opaque }};
}}"""

_WRITE = """([origin, local, tab]) => {
  if (location.origin !== origin) return false;
  for (const [storage, items] of [[localStorage, local], [sessionStorage, tab]]) {
    storage.clear();
    for (const [key, value] of items) storage.setItem(key, value);
  }
  return true;
}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebStorage:
    """What one origin has stored.

    Attributes:
        origin: The origin.
        local: Its `localStorage`.
        tab: Its `sessionStorage`.
        opaque: Whether there is more that cannot be handed on: a database, or over 200,000 characters, which are left
            out.
    """

    origin: str
    local: Mapping[str, str] = field(default_factory=dict)
    tab: Mapping[str, str] = field(default_factory=dict)
    opaque: bool = False

    def items(self) -> list[dict[str, str]]:
        """Return its `localStorage` as a storage state lists it."""
        return [{"name": name, "value": value} for name, value in self.local.items()]

    @property
    def name(self) -> str:
        """Equal for equal contents; empty where nothing is stored."""
        if not (self.local or self.tab or self.opaque):
            return ""
        facts = [sorted(self.local.items()), sorted(self.tab.items()), self.opaque]
        return sha256(json.dumps(facts).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def origin_of(url: str) -> str:
    """Return a URL's origin as scripts know it; empty where it has none."""
    try:
        return str(URL(url).origin())
    except ValueError:
        return ""


async def storage_of(page: Page, *, seconds: float = _SECONDS) -> WebStorage | None:
    """Read what the origin of a page's document has stored; None where the page does not answer in time."""
    try:
        async with asyncio.timeout(seconds):
            found = await page.evaluate(_READ)
    except (PlaywrightError, TimeoutError):
        return None
    return WebStorage(
        origin=found["origin"], local=dict(found["local"]), tab=dict(found["tab"]), opaque=found["opaque"]
    )


async def put_storage(page: Page, storage: WebStorage) -> bool:
    """Let an origin have stored this, and nothing else, for a page that is about to be left for another document.

    The page is taken to an empty document of that origin first, unless it shows one of its documents.

    Returns:
        Whether that succeeded.
    """
    try:
        async with asyncio.timeout(_SECONDS):
            if origin_of(page.url) == storage.origin and await _write(page, storage):
                return True
            return await _write_on_blank(page, storage)
    except (PlaywrightError, TimeoutError):
        return False


async def _write(page: Page, storage: WebStorage) -> bool:
    items = [list(storage.local.items()), list(storage.tab.items())]
    return bool(await page.evaluate(_WRITE, [storage.origin, *items]))


async def _write_on_blank(page: Page, storage: WebStorage) -> bool:
    url = storage.origin + _BLANK_PATH
    session = await page.context.new_cdp_session(page)
    answering: set[asyncio.Task[None]] = set()

    def answer(paused: dict[str, Any]) -> None:
        task = asyncio.get_running_loop().create_task(_answer_blank(session, paused["requestId"]), name="blank page")
        answering.add(task)
        task.add_done_callback(answering.discard)

    session.on("Fetch.requestPaused", answer)
    try:
        await session.send("Fetch.enable", {"patterns": [{"urlPattern": url}]})
        await page.goto(url, wait_until="commit")
        return await _write(page, storage)
    finally:
        await session.detach()


async def _answer_blank(session: CDPSession, request: str) -> None:
    headers = [{"name": "Content-Type", "value": "text/html"}]
    await session.send(
        "Fetch.fulfillRequest", {"requestId": request, "responseCode": 200, "responseHeaders": headers, "body": ""}
    )
