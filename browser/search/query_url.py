"""Addresses with a place for a query.

Invariant: `asked(url(query))` is the query, its white space collapsed; every other address asks nothing. Only `.` and
`..`, which no path can hold, are lost where the place is in a path.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote, unquote_plus, urlsplit

from browser.address import check_address, page_key
from browser.errors import AddressRefused

PLACE = "{query}"
# Stands in the query's place where the address is normalised, which would escape the braces.
_STAND_IN = "query0in0its0place"


@dataclass(frozen=True, slots=True)
class QueryUrl:
    """An address in which `{query}` stands for what is searched for, once or more.

    Raises:
        ValueError: It is no web address, or has no place for the query behind its host.
    """

    template: str

    def __post_init__(self) -> None:
        if PLACE not in self.template:
            raise ValueError(f"it has no {PLACE} where the words that are searched for belong")
        try:
            host = urlsplit(self.template).netloc
            check_address(self.url("words"), named_hosts={self.host})
        except AddressRefused as refused:
            raise ValueError(str(refused)) from refused
        if PLACE in host:
            raise ValueError(f"{PLACE} stands in its host, and belongs into the path or behind a '?'")

    @property
    def host(self) -> str:
        """The host that is asked."""
        return urlsplit(self.template).hostname or ""

    def url(self, query: str) -> str:
        """Return the address for a query."""
        # Half a surrogate pair, which a page's text may hold, has no encoding.
        return self.template.replace(PLACE, quote(" ".join(query.split()), safe="", errors="replace"))

    def asked(self, url: str) -> str | None:
        """Return the query that an address asks; None where it asks none."""
        found = _pattern(self.template).fullmatch(page_key(url))
        return None if found is None else " ".join(unquote_plus(found["query"]).split())


@lru_cache(maxsize=64)
def _pattern(template: str) -> re.Pattern[str]:
    first, *others = page_key(template.replace(PLACE, _STAND_IN)).split(_STAND_IN)
    pattern = rf"{re.escape(first)}(?P<query>[^/?&#]*)" + "(?P=query)".join(map(re.escape, others))
    return re.compile(pattern)
