"""Any site's own search, by the address of its page of results.

Invariant: that page is read as every page is; only its links are marked as found. Where the site leads on to another
page (the one that fits, or wherever it likes), its links are not what was found.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from browser.address import same_site
from browser.observation import Document
from browser.search.query_url import QueryUrl


class SiteSearch:
    """Searches by an address with a place for the query, such as `https://example.org/search?q={query}`.

    Args:
        template: The address.

    Raises:
        ValueError: It is none, or has no place for the query.
    """

    def __init__(self, template: str) -> None:
        self._address = QueryUrl(template)

    @property
    def name(self) -> str:
        """The site's host."""
        return self._address.host

    def url(self, query: str, /) -> str:
        """Return the address of the page of results."""
        return self._address.url(query)

    def asks(self, url: str, /) -> bool:
        """Tell whether an address is that of a search."""
        return self._address.asked(url) is not None

    def results(self, document: Document, /) -> Document:
        """Mark the links of a page of results as found."""
        if not self.asks(document.requested_url) or not _arrived(document):
            return document
        return replace(document, links=tuple(replace(link, found=True) for link in document.links))


def _arrived(document: Document) -> bool:
    asked, came = urlsplit(document.requested_url), urlsplit(document.url)
    return same_site(document.requested_url, document.url) and asked.path.rstrip("/") == came.path.rstrip("/")
