"""Which search engine a person means.

Invariant: what is accepted can be asked; whether it answers, only a search shows.
"""

from __future__ import annotations

from browser.search.engine import SearchEngine
from browser.search.mediawiki import MediaWiki
from browser.search.query_url import PLACE
from browser.search.searxng import SearXNG
from browser.search.site_search import SiteSearch

_FORMS = (
    f"https://example.org/search?q={PLACE}, mediawiki:https://en.wikipedia.org or searxng:https://searx.example.org"
)


def parse_engine(text: str) -> SearchEngine:
    """Read a search engine: `mediawiki:URL`, `searxng:URL`, or a site's own address with `{query}` in it.

    Where no scheme is given, https:// is added.

    Raises:
        ValueError: It is none of these; the message says what is wrong and how it is written.
    """
    kind, _, address = text.strip().partition(":")
    try:
        match kind.lower():
            case "mediawiki":
                return MediaWiki(_whole(address))
            case "searxng":
                return SearXNG(_whole(address))
            case _:
                return SiteSearch(_whole(text))
    except ValueError as error:
        raise ValueError(f"{text!r} is no search engine: {error}; write it as {_FORMS}") from error


def _whole(address: str) -> str:
    address = address.strip()
    return address if "://" in address.partition(PLACE)[0] else f"https://{address}"
