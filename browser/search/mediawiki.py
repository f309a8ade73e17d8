"""The full-text search of a MediaWiki, such as Wikipedia, by its API (https://www.mediawiki.org/wiki/API:Search).

Invariant: a result's address is the one the wiki itself names.
"""

from __future__ import annotations

from typing import Any

from bs4 import BeautifulSoup
from yarl import URL

from browser.observation import Document
from browser.search.query_url import PLACE, QueryUrl
from browser.search.results_page import Answer, Findings, Result, objects, results_page, text

_LIMIT = 10
# One request asks twice: as a list the search gives snippets, as a generator it gives the pages' addresses.
_PARAMETERS = (
    "action=query&format=json&formatversion=2&list=search&srprop=snippet&generator=search&prop=info&inprop=url"
    f"&srlimit={_LIMIT}&gsrlimit={_LIMIT}&srsearch={PLACE}&gsrsearch={PLACE}"
)


class MediaWiki:
    """Searches a wiki.

    Args:
        address: Its `api.php`, or any page of the wiki; then the API is looked for where wikis mostly have it.

    Raises:
        ValueError: It is no address.
    """

    def __init__(self, address: str) -> None:
        self._address = QueryUrl(f"{_api(address)}?{_PARAMETERS}")

    @property
    def name(self) -> str:
        """The wiki's host."""
        return self._address.host

    def url(self, query: str, /) -> str:
        """Return the address of the API's answer."""
        return self._address.url(query)

    def asks(self, url: str, /) -> bool:
        """Tell whether an address is that of a search."""
        return self._address.asked(url) is not None

    def results(self, document: Document, /) -> Document:
        """Read the API's answer."""
        query = self._address.asked(document.requested_url)
        return document if query is None else results_page(document, query, engine=self.name, read=_findings)


def _api(address: str) -> str:
    url = URL(address)
    path = url.path
    if not path.endswith("/api.php"):
        # Pages are at /wiki/… and the API at /w/api.php, unless the wiki has a folder of its own.
        top, wiki, _ = path.rpartition("/wiki/")
        path = f"{top}/w/api.php" if wiki or path in ("", "/") else f"{path.rstrip('/')}/api.php"
    return str(url.with_path(path))


def _findings(answer: Answer) -> Findings:
    error, query = answer.get("error"), answer.get("query")
    if isinstance(error, dict):
        return Findings(fault=text(error.get("info")) or text(error.get("code")) or "it reports an error")
    if not isinstance(query, dict):
        return Findings(fault="its answer holds no search")
    snippets = {hit["pageid"]: text(hit.get("snippet")) for hit in objects(query.get("search")) if _is_id(hit)}
    pages = [page for page in objects(query.get("pages")) if _is_id(page)]
    suggestion = text(_object(query.get("searchinfo")).get("suggestion"))
    return Findings(
        results=[
            Result(
                title=text(page.get("title")),
                url=text(page.get("canonicalurl")) or text(page.get("fullurl")),
                snippet=_plain(snippets.get(page["pageid"], "")),
            )
            for page in sorted(pages, key=_rank)
        ],
        hint=f"Did you mean {suggestion!r}?" if suggestion else "",
    )


def _is_id(row: Answer) -> bool:
    return isinstance(row.get("pageid"), int)


def _rank(page: Answer) -> float:
    index = page.get("index")
    return index if isinstance(index, int) else float("inf")


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _plain(html: str) -> str:
    return BeautifulSoup(html, "html.parser").get_text()
