"""What was found, in the shapes it is asked for: a page, MediaWiki's API, SearXNG's JSON.

Invariant: all three say the same, best match first. Fields are those of the originals (https://www.mediawiki.org/wiki/
API:Search and https://docs.searxng.org/dev/search_api.html); what is asked beyond them is ignored, as they do.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any
from urllib.parse import urlencode

from evals.encyclopaedia.article import write_page
from evals.encyclopaedia.search import CLOSING, MAX_PAGE_SIZE, OPENING, PAGE_SIZE, Found, Hit, SearchIndex
from evals.site.page import Block, Entry, Inline, Link, Listing, Page, Paragraph

SEARCH_PATH = "/search"
_MEDIAWIKI_MODULES = {"sr": "list", "gsr": "generator"}
"""The parameter that each prefix belongs to."""


def results_path(query: str, *, offset: int = 0) -> str:
    """Return the address of a page of results."""
    return f"{SEARCH_PATH}?{urlencode({'q': query} | ({'offset': str(offset)} if offset else {}))}"


def path_asked(parameters: Mapping[str, str]) -> str:
    """Return the address of the page of results that some parameters name, however they are written."""
    return results_path(parameters.get("q", ""), offset=_number(parameters, "offset", 0))


def results_page(index: SearchIndex, parameters: Mapping[str, str]) -> Page:
    """Search, and return the page of results."""
    query, offset = parameters.get("q", ""), _number(parameters, "offset", 0)
    found = index.search(query, offset=offset)
    return write_page(path_asked(parameters), "Search results", _result_blocks(query, offset, found))


def mediawiki_results(index: SearchIndex, parameters: Mapping[str, str], *, origin: str) -> dict[str, Any]:
    """Answer what MediaWiki's API is asked, by `list=search`, by `generator=search`, or by both at once."""
    if parameters.get("action") != "query":
        return _error("badvalue", 'Unrecognized value for parameter "action".')
    prefixes = [prefix for prefix, module in _MEDIAWIKI_MODULES.items() if parameters.get(module) == "search"]
    missing = [prefix for prefix in prefixes if not parameters.get(f"{prefix}search", "").strip()]
    if missing:
        return _error("missingparam", f'The "{missing[0]}search" parameter must be set.')
    is_second_format = parameters.get("formatversion") == "2"
    answer: dict[str, Any] = {"batchcomplete": True if is_second_format else ""}
    for prefix in prefixes:
        offset = _number(parameters, f"{prefix}offset", 0)
        limit = _number(parameters, f"{prefix}limit", PAGE_SIZE)
        found = index.search(parameters[f"{prefix}search"], limit=limit, offset=offset)
        query = answer.setdefault("query", {})
        if prefix == "sr":
            query |= {
                "searchinfo": {"totalhits": found.total},
                "search": [_mediawiki_hit(hit) for hit in found.hits],
            }
        elif found.hits:
            # The generator's pages come in no order; each carries its place.
            pages = [_mediawiki_page(hit, offset + place, origin) for place, hit in enumerate(found.hits, 1)]
            query["pages"] = pages if is_second_format else {str(page["pageid"]): page for page in pages}
        following = offset + len(found.hits)
        if found.hits and following < found.total:
            answer.setdefault("continue", {"continue": "-||"})[f"{prefix}offset"] = following
    return answer


def searxng_results(index: SearchIndex, parameters: Mapping[str, str], *, origin: str) -> dict[str, Any]:
    """Answer as SearXNG does to `format=json`."""
    query = parameters.get("q", "")
    page = max(1, _number(parameters, "pageno", 1))
    found = index.search(query, offset=(page - 1) * PAGE_SIZE)
    return {
        "query": query,
        "number_of_results": found.total,
        "results": [_searxng_hit(hit, place, origin) for place, hit in enumerate(found.hits, 1)],
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [],
        "unresponsive_engines": [],
    }


def _result_blocks(query: str, offset: int, found: Found) -> tuple[Block, ...]:
    if not found.hits:
        return (Paragraph(parts=(f"There were no results matching “{query}”.",)),)
    last = offset + len(found.hits)
    listing = Listing(
        entries=tuple(Entry(title=Link(text=hit.title, path=hit.path), summary=hit.snippet) for hit in found.hits)
    )
    turns: list[Inline] = []
    if offset:
        before = max(0, offset - PAGE_SIZE)
        turns += [Link(text="Previous page", path=results_path(query, offset=before)), " "]
    if last < found.total:
        turns.append(Link(text="Next page", path=results_path(query, offset=last)))
    told = Paragraph(parts=(f"Results {offset + 1} to {last} of {found.total} for “{query}”.",))
    return (told, listing, *([Paragraph(parts=tuple(turns))] if turns else []))


def _mediawiki_hit(hit: Hit) -> dict[str, Any]:
    marked = escape(hit.marked).replace(OPENING, '<span class="searchmatch">').replace(CLOSING, "</span>")
    return {
        "ns": 0,
        "title": hit.title,
        "pageid": hit.number,
        "size": len(hit.text.encode()),
        "wordcount": len(hit.text.split()),
        "snippet": marked,
    }


def _mediawiki_page(hit: Hit, place: int, origin: str) -> dict[str, Any]:
    address = origin + hit.path
    return {
        "pageid": hit.number,
        "ns": 0,
        "title": hit.title,
        "index": place,
        "contentmodel": "wikitext",
        "pagelanguage": "en",
        "length": len(hit.text.encode()),
        "fullurl": address,
        "canonicalurl": address,
    }


def _searxng_hit(hit: Hit, place: int, origin: str) -> dict[str, Any]:
    return {
        "url": origin + hit.path,
        "title": hit.title,
        "content": hit.snippet,
        "engine": "encyclopaedia",
        "engines": ["encyclopaedia"],
        "positions": [place],
        "score": round(hit.score, 3),
        "category": "general",
    }


def _error(code: str, info: str) -> dict[str, Any]:
    return {"error": {"code": code, "info": info}}


def _number(parameters: Mapping[str, str], name: str, default: int) -> int:
    """Return a number, or what stands for it where it is none; MediaWiki calls the largest one `max`."""
    text = parameters.get(name, "")
    if text == "max":
        return MAX_PAGE_SIZE
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default
