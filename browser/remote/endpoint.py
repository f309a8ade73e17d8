"""Where a browser is, as a person writes it: the path of a Chromium here, or the addresses of browsers elsewhere.

```
/usr/bin/chromium                      this machine's
ws://host:3000/ , wss://…              a Playwright server: each connection gets a browser of its own
http://host:9222 , https://…           a browser's debugging port (CDP): all connections share the one browser
ws://host:9222/devtools/browser/ID     the same, by its socket
…#weight=2                             gets twice as many pages as others; a fragment is never sent
```

Invariant: what an address may hold of a secret (user, password, path, query) is in none of the texts made of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path

from yarl import URL

from browser.address_mask import masked

_SCHEMES = ("ws", "wss", "http", "https")
_NEXT = re.compile(r",(?=(?:wss?|https?)://)")  # paths and queries may hold commas as well
_ADDRESS = re.compile(r"(?:wss?|https?)://[^\s'\"]+")
_WEIGHT = re.compile(r"weight=(\d{1,3}(?:\.\d{1,3})?)")
_FORM = "it is written ws://HOST:PORT/PATH (a Playwright server) or http://HOST:PORT (a debugging port)"


class Protocol(StrEnum):
    """How a browser elsewhere is spoken to."""

    PLAYWRIGHT = "Playwright server"
    CDP = "debugging port"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A browser elsewhere, or a server that starts some.

    Attributes:
        url: Its address, which may hold a token; never show it: `str()` is what may be shown.
        protocol: How it is spoken to.
        weight: Its share of the pages, in proportion to the other endpoints'.
    """

    url: str = field(repr=False)
    protocol: Protocol
    weight: float = 1.0

    @property
    def host(self) -> str:
        """The name or IP address of its machine."""
        return URL(self.url).host or ""

    @property
    def is_here(self) -> bool:
        """Whether its address is this machine's loopback."""
        try:
            return self.host == "localhost" or ip_address(self.host).is_loopback
        except ValueError:
            return False

    def masked(self, text: str) -> str:
        """Return what somebody said of it with nothing of its address in it but its name."""
        return masked(_ADDRESS.sub(str(self), text), self.url)

    def __str__(self) -> str:
        return _shown(URL(self.url))


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserChoice:
    """Which browser was asked for.

    Attributes:
        executable: The Chromium of this machine to start; None: the first found.
        endpoints: Browsers elsewhere that are used instead; empty: none.
    """

    executable: Path | None = None
    endpoints: tuple[Endpoint, ...] = ()


def split(texts: Iterable[str]) -> Iterator[str]:
    """Yield the parts of a list in which commas may stand between addresses."""
    for text in texts:
        yield from filter(None, map(str.strip, _NEXT.split(text)))


def parse_browsers(texts: Iterable[str]) -> BrowserChoice:
    """Read what names a browser: one path, or any number of addresses.

    Raises:
        ValueError: It is written otherwise; the message holds nothing of what may be a secret.
    """
    parts = list(split(texts))
    if not any("://" in part for part in parts):
        if len(parts) > 1:
            raise ValueError("there is one Chromium on this machine at most; several are for ws:// and http:// only")
        return BrowserChoice(executable=Path(parts[0]) if parts else None)
    if not all("://" in part for part in parts):
        raise ValueError("it names a Chromium on this machine and browsers elsewhere; leave one of them out")
    endpoints = tuple(map(parse_endpoint, parts))
    for number, endpoint in enumerate(endpoints):
        if any(endpoint.url == other.url for other in endpoints[:number]):
            raise ValueError(f"{endpoint} is named twice; write #weight=2 behind it to give it twice as many pages")
    return BrowserChoice(endpoints=endpoints)


def parse_endpoint(text: str) -> Endpoint:
    """Read one address.

    Raises:
        ValueError: It is none; the message holds nothing of what may be a secret.
    """
    try:
        url = URL(text)
        host, port = url.host, url.port  # a port that is none fails only when it is asked for
    except ValueError:
        host = port = None
    if not host or not port or url.scheme not in _SCHEMES:
        raise ValueError(f"an address of a browser is no address: {_FORM}")
    weight = _WEIGHT.fullmatch(url.fragment) if url.fragment else None
    if url.fragment and (weight is None or float(weight[1]) <= 0):
        raise ValueError(f"what follows # in {_shown(url)} is no weight: write it #weight=2, up to 999.999")
    is_debugging = url.scheme in ("http", "https") or url.path.startswith("/devtools/")
    return Endpoint(
        url=text.partition("#")[0],
        protocol=Protocol.CDP if is_debugging else Protocol.PLAYWRIGHT,
        weight=float(weight[1]) if weight else 1.0,
    )


def _shown(url: URL) -> str:
    return f"{url.scheme}://{url.host_port_subcomponent}"
