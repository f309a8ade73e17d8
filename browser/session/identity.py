"""Who a browser is to the sites it visits: what it says of itself in every request, and how large its window is.

Invariant: pages are shared only between sessions of one identity; its `name` is part of what names a page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from browser.session.site_headers import SiteHeaders

_VIEWPORT = re.compile(r"(\d{2,5})[xX](\d{2,5})")
# A language, then script and region or variant, as far as browsers know them (BCP 47).
_LOCALE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|\d{3}))?(-([A-Za-z0-9]{5,8}|\d[A-Za-z0-9]{3}))*")
_LARGEST = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewport:
    """The size of a page's window, in CSS pixels."""

    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


# Tall, so that lists which load what comes into view load more of it.
VIEWPORT = Viewport(width=1280, height=2000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What a browser shows of itself.

    Attributes:
        locale: The language pages are asked for, as a BCP 47 tag.
        viewport: The size of its window.
        user_agent: What it calls itself; None: by its own name.
        headers: What it adds to requests to some sites.
    """

    locale: str = "en-US"
    viewport: Viewport = VIEWPORT
    user_agent: str | None = None
    headers: SiteHeaders = field(default_factory=SiteHeaders)

    @property
    def name(self) -> str:
        """The same for identities to which a site shows the same; holds no header's value."""
        told = [self.user_agent or "", *(f"{header.name}: {header.value}" for header in self.headers.headers)]
        mark = sha256("\n".join(told).encode()).hexdigest()[:12] if any(told) else ""
        return f"{self.viewport} {self.locale}" + (f" {mark}" if mark else "")

    def context_arguments(self) -> dict[str, Any]:
        """Return what Playwright's `new_context` takes of it; `headers` must be added page by page."""
        return {
            "locale": self.locale,
            "viewport": {"width": self.viewport.width, "height": self.viewport.height},
            "user_agent": self.user_agent,
        }


def parse_viewport(text: str) -> Viewport:
    """Read a size such as `1280x2000`.

    Raises:
        ValueError: It is none.
    """
    found = _VIEWPORT.fullmatch(text.strip())
    if found is None or max(width := int(found[1]), height := int(found[2])) > _LARGEST:
        raise ValueError(f"{text!r} is no size: write WIDTHxHEIGHT in pixels, such as 1280x2000")
    return Viewport(width=width, height=height)


def parse_locale(text: str) -> str:
    """Read a language tag such as `de-AT`.

    Raises:
        ValueError: It has not the form of one.
    """
    if _LOCALE.fullmatch(text) is None:
        raise ValueError(f"{text!r} is no language tag: write a language and, if you like, a region, such as de-AT")
    return text
