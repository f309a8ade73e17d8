"""Where the searches of one environment are put to the engine that the user named.

Invariant: what a search found may lead to another site than the engine's, but to a private address only where the user
named its host.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from dataclasses import replace

from yarl import URL

from browser.address import is_private, page_key
from browser.observation import Document, Link
from browser.search.engine import SearchEngine

_MAX_FOUND = 1_000


class SearchDesk:
    """Knows the addresses of searches, reads their results, and remembers where these lead.

    Args:
        engine: The engine; None: there is none.
        named_hosts: Hosts the user named beside it.
    """

    def __init__(self, engine: SearchEngine | None, *, named_hosts: Collection[str] = ()) -> None:
        self._engine = engine
        own = {URL(engine.url("")).host or ""} if engine else set()
        self.named_hosts = frozenset({*named_hosts, *own} - {""})
        """The hosts the user named, the engine's included."""
        self._found: OrderedDict[str, None] = OrderedDict()

    def address(self, query: str) -> str | None:
        """Return the address of a search; None where there is no engine, or no word in the query."""
        return self._engine.url(query) if self._engine and query.strip() else None

    def mark(self, url: str) -> str:
        """Return what sets a page of results apart from what its address shows where there is no engine; else empty."""
        return " search" if self._engine and self._engine.asks(url) else ""

    def has_found(self, url: str) -> bool:
        """Tell whether a search found this address."""
        return page_key(url) in self._found

    def read(self, document: Document) -> Document:
        """Return the page of results where a document comes from the engine's address, else the document itself."""
        page = self._engine.results(document) if self._engine else document
        if not any(link.found for link in page.links):
            return page
        links = tuple(link if self._may_lead(link.url) else replace(link, found=False) for link in page.links)
        self._remember(links)
        return replace(page, links=links)

    def is_list(self, document: Document) -> bool:
        """Tell whether a page was made of an engine's answer, so that there is nothing on it to click."""
        return document.content_type.endswith("json") and any(link.found for link in document.links)

    def cannot(self, query: str) -> str:
        """Say why a search has no address."""
        if self._engine is None:
            return f"No search engine is set, so {query!r} was not searched for. Follow links instead."
        return "The search had no words in it, so nothing was searched for."

    def _may_lead(self, url: str) -> bool:
        try:
            host = URL(url).host or ""
        except ValueError:
            return False
        return bool(host) and (host in self.named_hosts or not is_private(host))

    def _remember(self, links: Collection[Link]) -> None:
        for link in links:
            if link.found:
                self._found[page_key(link.url)] = None
        while len(self._found) > _MAX_FOUND:
            self._found.popitem(last=False)

    def __repr__(self) -> str:
        return f"<SearchDesk {self._engine.name if self._engine else None} found={len(self._found)}>"
