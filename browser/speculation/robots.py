"""What the robots.txt of a site lets speculation do.

Invariant: a page is loaded ahead only where the rules of its origin were read and allow it; where they cannot be had,
nothing is. What the agent is told to do is no robot's errand and is not asked about here. The rules are RFC 9309's.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

import aiohttp
from protego import Protego
from yarl import URL

from browser.address import check_address
from browser.errors import AddressRefused
from speccache.flight import Flights
from speccache.store import Lifetime, Store

PRODUCT_TOKEN = "SpecCache"  # noqa: S105 - RFC 9309 calls the name by which a robots.txt knows a robot a token
"""The name under which a site can address speculation: `User-agent: SpecCache`."""

UNKNOWN = "robots-unknown"
"""Why nothing is loaded ahead from a site whose rules are not there yet."""

_USER_AGENT = f"{PRODUCT_TOKEN} (reads robots.txt before a person's browser agent loads pages ahead)"
_NOTHING_ALLOWED = "User-agent: *\nDisallow: /"
_REDIRECTS = (301, 302, 303, 307, 308)
_TOO_MANY_REQUESTS = 429

# RFC 9309: follow at least five redirects (2.3.1.2), use a copy for at most a day (2.4), read at least 500 KiB (2.5).
_MAX_REDIRECTS = 5
_MAX_AGE_SECONDS = 24 * 3600.0
_MAX_BYTES = 500 * 1024

_RETRY_SECONDS = 300.0  # for rules that could not be had: the site may be back sooner than in a day
_MAX_ORIGINS = 256
_MAX_TOTAL_BYTES = 1024 * 1024  # of text; parsed, it occupies about 50 times as much


class Robots:
    """The rules of every origin asked about, each fetched once a day at most.

    Args:
        proxy: Gives the proxy that fetches go through when they begin; None: the environment's, if any.
        fetch_seconds: How long one fetch may take, with all its redirects.
        clock: Where the time comes from, in seconds.

    Resource handling: owns the fetches that `prepare()` starts; close it with `aclose()`.
    """

    def __init__(
        self,
        *,
        proxy: Callable[[], str | None] = lambda: None,
        fetch_seconds: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._proxy = proxy
        self._fetch_seconds = fetch_seconds
        self._rules: Store[Protego] = Store(
            max_entries=_MAX_ORIGINS, max_bytes=_MAX_TOTAL_BYTES, max_age_seconds=_MAX_AGE_SECONDS, clock=clock
        )
        self._flights: Flights[Protego] = Flights(clock=clock)
        self._preparing: set[asyncio.Task[Protego]] = set()
        self._closed = False

    def prepare(self, url: str) -> None:
        """Have the rules for a URL fetched in the background, unless they are there or on their way.

        Raises:
            ValueError: The URL is not absolute.
        """
        origin = _origin(url)
        if self._closed or origin in self._rules or origin in self._flights:
            return
        task = asyncio.get_running_loop().create_task(self._rules_of(origin), name=f"robots {origin}")
        self._preparing.add(task)
        task.add_done_callback(self._preparing.discard)

    def known(self, url: str) -> str | None:
        """Say at once why a URL must not be loaded ahead; None if it may be.

        Returns:
            "robots" where the rules forbid it, "robots-unknown" where there are none yet.

        Raises:
            ValueError: The URL is not absolute.
        """
        entry = self._rules.get(_origin(url))
        return UNKNOWN if entry is None else _refusal(entry.value, url)

    async def refusal(self, url: str) -> str | None:
        """Say why a URL must not be loaded ahead, after a fetch of the rules where there are none; None if it may be.

        Cancellation: takes this caller out; the fetch ends with its last caller.

        Raises:
            ValueError: The URL is not absolute.
        """
        return _refusal(await self._rules_of(_origin(url)), url)

    def crawl_delay_seconds(self, url: str) -> float:
        """Return the least time that the site wants between two loads; 0 where it, or its rules, say nothing.

        Raises:
            ValueError: The URL is not absolute.
        """
        entry = self._rules.get(_origin(url))
        return 0.0 if entry is None else entry.value.crawl_delay(PRODUCT_TOKEN) or 0.0

    async def _rules_of(self, origin: str) -> Protego:
        entry = self._rules.get(origin)
        return await self._flights.run(origin, lambda: self._fetch(origin)) if entry is None else entry.value

    async def _fetch(self, origin: str) -> Protego:
        text = None
        # A name that no DNS can hold, or a redirect to nonsense, is a ValueError.
        with suppress(aiohttp.ClientError, AddressRefused, TimeoutError, ValueError):
            async with asyncio.timeout(self._fetch_seconds):
                text = await _download(URL(origin), proxy=self._proxy())
        age_seconds = _RETRY_SECONDS if text is None else _MAX_AGE_SECONDS
        text = _NOTHING_ALLOWED if text is None else text
        rules = await asyncio.to_thread(Protego.parse, text)
        self._rules.put(origin, rules, size_bytes=len(text), lifetime=Lifetime(max_age_seconds=age_seconds))
        return rules

    async def aclose(self) -> None:
        """End the fetches under way; may be called twice."""
        self._closed = True
        for task in self._preparing:
            task.cancel()
        if self._preparing:
            await asyncio.wait(self._preparing)

    def __repr__(self) -> str:
        return f"<Robots origins={len(self._rules)} preparing={len(self._preparing)} {self._flights}>"


def _origin(url: str) -> str:
    return str(URL(url).origin())


def _refusal(rules: Protego, url: str) -> str | None:
    return None if rules.can_fetch(url, PRODUCT_TOKEN) else "robots"


async def _download(origin: URL, *, proxy: str | None) -> str | None:
    """Return the text of an origin's robots.txt, "" where there is none, None where that could not be learned.

    Raises:
        AddressRefused: A redirect leads where nobody may be sent.
        aiohttp.ClientError: The server could not be reached, or broke off.
        ValueError: A redirect leads to what is no URL.
    """
    url = origin / "robots.txt"
    async with aiohttp.ClientSession(
        headers={"User-Agent": _USER_AGENT}, cookie_jar=aiohttp.DummyCookieJar(), trust_env=True
    ) as session:
        for _ in range(_MAX_REDIRECTS + 1):
            _check_hop(url, origin)
            async with session.get(url, allow_redirects=False, proxy=proxy) as response:
                location = response.headers.get("Location")
                if response.status not in _REDIRECTS or location is None:
                    return await _text(response)
                url = url.join(URL(location))
    return None


def _check_hop(url: URL, origin: URL) -> None:
    """Let a redirect pass; a private address only where it is the server that was asked first.

    Raises:
        AddressRefused: It does not pass.
    """
    same_server = (url.host, url.port) == (origin.host, origin.port)
    check_address(str(url), named_hosts=(url.host or "",) if same_server else ())


async def _text(response: aiohttp.ClientResponse) -> str | None:
    if 200 <= response.status < 300:
        return await _body(response)
    # RFC 9309 2.3.1.3 lets every 4xx mean "no rules"; but who answers 429 wants fewer requests, not more.
    return "" if 400 <= response.status < 500 and response.status != _TOO_MANY_REQUESTS else None


async def _body(response: aiohttp.ClientResponse) -> str:
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > _MAX_BYTES:
            # The last line may have been cut in two: half a path would be another rule.
            del body[_MAX_BYTES:]
            del body[max(body.rfind(b"\n"), body.rfind(b"\r")) + 1 :]
            break
    return body.decode("utf-8-sig", errors="replace")
