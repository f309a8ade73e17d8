"""What an agent means by a link: its number, its text, or an address.

Invariant: a target that could mean two pages means none.
"""

from __future__ import annotations

import re
from urllib.parse import urljoin

from browser.observation import Link, Observation

_NUMBER = re.compile(r"\[?(\d{1,6})\]?")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_PATHS = ("/", "./", "../", "?", "#/", "#!")


def resolve(target: str, here: Observation | None) -> str | None:
    """Turn a link number, a link text or a URL into an absolute URL.

    Args:
        target: What the agent wrote.
        here: The page it stands on; None where it stands nowhere yet.

    Returns:
        The URL, or None where the target names no single page.
    """
    target = target.strip()
    links = here.links if here else ()
    number = _NUMBER.fullmatch(target)
    if number:
        return _by_number(links, int(number[1]))
    if _SCHEME.match(target):
        return target
    return _by_text(links, target) or (urljoin(here.url, target) if here and target.startswith(_PATHS) else None)


def no_link(target: str) -> str:
    """Say that a target names no single page."""
    return f"There is no link {target!r} on this page, or several have that text: use its number."


def _by_number(links: tuple[Link, ...], number: int) -> str | None:
    return next((link.url for link in links if link.number == number), None)


def _by_text(links: tuple[Link, ...], text: str) -> str | None:
    urls = {link.url for link in links if _folded(text) in map(_folded, link.names)}
    return urls.pop() if len(urls) == 1 else None


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
