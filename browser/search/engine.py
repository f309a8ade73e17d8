"""What a search engine is to this package: an address for each query, and a way to read what stands there.

Invariant: an engine loads nothing itself. Its address is loaded as every page is, so a search is subject to the same
rules, and is loaded ahead by the same machinery.
"""

from __future__ import annotations

from typing import Protocol

from browser.observation import Document


class SearchEngine(Protocol):
    """Names the address of a search, and reads its results."""

    @property
    def name(self) -> str:
        """How messages call it: its host."""
        ...

    def url(self, query: str, /) -> str:
        """Return the address that answers a query; queries that differ only in white space have the same one."""
        ...

    def asks(self, url: str, /) -> bool:
        """Tell whether an address is that of a search."""
        ...

    def results(self, document: Document, /) -> Document:
        """Read what one of this engine's addresses gave.

        Returns:
            A page of results, whose links to them are marked as found; the document itself where it comes from another
            address or is a page of results already; a document with a problem where the search failed.
        """
        ...
