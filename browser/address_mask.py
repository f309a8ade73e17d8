"""What others say of an address, without what is secret in it.

Invariant: neither a name, a password nor a value of its query is left, as it was written, as it is meant, or as it is
quoted; a word is hidden as a whole only, so that a short one does not spoil others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote, unquote, urlsplit

_MASK = "***"


def masked(text: str, url: str) -> str:
    """Return a text in which the secrets of an address are hidden, should it quote them."""
    secrets = sorted(set(_secrets(url)), key=len, reverse=True)
    if not secrets:
        return text
    return re.sub(rf"(?:(?<!\w)|(?<=%[0-9A-Fa-f]{{2}}))(?:{'|'.join(map(re.escape, secrets))})(?!\w)", _MASK, text)


def _secrets(url: str) -> Iterator[str]:
    parts = urlsplit(url)
    values = (part.partition("=")[2] or part for part in parts.query.split("&"))
    for written in filter(None, (parts.username, parts.password, *values)):
        meant = unquote(written)
        yield from (written, meant, quote(meant), quote(meant, safe=""))
