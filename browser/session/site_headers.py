"""Headers of the user's own, which go to some sites and to no other.

Invariant: whether a request carries them is decided by its own address alone, and their values stand in no message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from yarl import URL

from browser.address import same_site

_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_MIN_SECRET = 8
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
# The browser's own business; some have a flag of their own.
_RESERVED = re.compile(
    r"(accept-encoding|accept-language|connection|content-length|cookie|expect|host|keep-alive|te|trailer"
    r"|transfer-encoding|upgrade|user-agent|(proxy|sec)-.*)",
    re.IGNORECASE,
)
# These hold no secret, and their values stand in many texts.
_HARMLESS = re.compile(
    r"accept(-.*)?|cache-control|dnt|from|if-.*|origin|pragma|prefer|referer|x-requested-with", re.IGNORECASE
)
_ADVICE = {"cookie": "--storage-state", "user-agent": "--user-agent", "accept-language": "--locale"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """A header with its value, which may be a secret."""

    name: str
    value: str

    @property
    def secrets(self) -> frozenset[str]:
        """What of the value must be read nowhere: `Bearer abc` may be shown as `abc` alone."""
        parts = () if _HARMLESS.fullmatch(self.name) else (self.value, *self.value.split())
        return frozenset(part for part in parts if len(part) >= _MIN_SECRET)

    def __repr__(self) -> str:
        return f"<Header {self.name}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteHeaders:
    """Headers, and where they go.

    Attributes:
        headers: The headers.
        url: They go to the site of this address; over plain http only where it is plain http, too.
        hosts: They go to these hosts as well, at any port.
    """

    headers: tuple[Header, ...] = ()
    url: str = ""
    hosts: frozenset[str] = frozenset()

    def go_to(self, url: str) -> bool:
        """Tell whether a request to this address carries them."""
        try:
            parsed, home = URL(url), URL(self.url)
        except ValueError:
            return False
        is_as_safe = parsed.scheme == "https" or home.scheme == "http"
        return is_as_safe and (same_site(url, self.url) or parsed.host in self.hosts)

    def __bool__(self) -> bool:
        return bool(self.headers)


def parse_header(text: str) -> Header:
    """Read `Name: value`.

    Raises:
        ValueError: It is none, or one that only the browser sets; the message does not hold the value.
    """
    name, colon, value = text.partition(":")
    name, value = name.strip(), value.strip()
    if not colon or not _NAME.fullmatch(name) or not value or not _VALUE.fullmatch(value):
        raise ValueError("a header is written 'Name: value', in one line")
    if _RESERVED.fullmatch(name):
        advice = _ADVICE.get(name.lower())
        raise ValueError(f"the header {name} is the browser's own" + (f"; there is {advice}" if advice else ""))
    return Header(name=name, value=value)
