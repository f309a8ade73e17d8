"""A SearXNG instance, which asks many engines of the whole web (https://docs.searxng.org/dev/search_api.html).

Its JSON format is off by default: the instance's settings must list it under `search.formats`. Invariant: titles and
snippets are taken as plain text.
"""

from __future__ import annotations

from yarl import URL

from browser.observation import Document
from browser.search.query_url import PLACE, QueryUrl
from browser.search.results_page import Answer, Findings, Result, objects, results_page, text


class SearXNG:
    """Searches by an instance.

    Args:
        address: Where it is.

    Raises:
        ValueError: It is no address.
    """

    def __init__(self, address: str) -> None:
        url = URL(address)
        folder = url.path.rstrip("/").removesuffix("/search")
        self._address = QueryUrl(f"{url.with_path(f'{folder}/search')}?format=json&q={PLACE}")

    @property
    def name(self) -> str:
        """The instance's host."""
        return self._address.host

    def url(self, query: str, /) -> str:
        """Return the address of the answer."""
        return self._address.url(query)

    def asks(self, url: str, /) -> bool:
        """Tell whether an address is that of a search."""
        return self._address.asked(url) is not None

    def results(self, document: Document, /) -> Document:
        """Read the answer."""
        query = self._address.asked(document.requested_url)
        return document if query is None else results_page(document, query, engine=self.name, read=_findings)


def _findings(answer: Answer) -> Findings:
    if not isinstance(answer.get("results"), list):
        return Findings(fault=text(answer.get("error")) or "its answer holds no results")
    results = [
        Result(title=text(row.get("title")), url=text(row.get("url")), snippet=text(row.get("content")))
        for row in objects(answer["results"])
    ]
    silent = answer.get("unresponsive_engines")
    names = [str(each[0]) for each in silent if isinstance(each, list) and each] if isinstance(silent, list) else []
    return Findings(results=results, hint=f"Not all engines answered: {', '.join(names)}." if names else "")
