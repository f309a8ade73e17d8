"""Turns an engine's JSON answer into a page of results: markdown with numbered links, as of any page.

Invariant: whatever the answer holds, a document comes of it. Titles and snippets are text there, never markup, and
nothing in them can be taken for a numbered link.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any
from urllib.parse import urljoin, urlsplit

from browser.address import page_key
from browser.observation import Document, Link
from browser.renderer import render, unfenced

MAX_RESULTS = 20
_MAX_SNIPPET_CHARACTERS = 500
_MAX_REASON_CHARACTERS = 300
# What the reader of pages takes out of all text, too: it shows nothing, and the renderer marks links with it.
_INVISIBLE = re.compile(
    "[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\ud800-\udfff\ue000-\ue003\U000e0000-\U000e007f]"
)

Answer = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One thing found.

    Attributes:
        title: Its title, as text.
        url: Its address, absolute or relative to the engine's.
        snippet: Words of it, as text; may be empty.
    """

    title: str
    url: str
    snippet: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What an answer holds.

    Attributes:
        results: The results, the best first.
        hint: What the engine says where it found nothing, in a sentence; may be empty.
        fault: Why the search failed, as the engine says it; None where it did not.
    """

    results: Sequence[Result] = ()
    hint: str = ""
    fault: str | None = None


def results_page(document: Document, query: str, *, engine: str, read: Callable[[Answer], Findings]) -> Document:
    """Return the page of results for what an engine's address gave.

    Args:
        document: What it gave: a JSON text, in a code fence as the reader writes it.
        query: What was searched for.
        engine: The engine's name, for messages.
        read: Finds the results in the JSON object.
    """
    if document.problem is not None:
        return document
    answer = _json_object(document.markdown)
    findings = Findings(fault="its answer is no JSON object") if answer is None else read(answer)
    failed = document.status is not None and document.status >= 400
    if failed and (answer is None or findings.fault is None):
        findings = Findings(fault=f"it answered with HTTP status {document.status}")
    if findings.fault is not None:
        why = _line(findings.fault)[:_MAX_REASON_CHARACTERS].rstrip(". ")
        problem = f"The search engine {engine} found nothing for {query!r}: {why}. Search again later or elsewhere."
        return replace(document, title=_title(query), markdown="", links=(), problem=problem)
    return _page(document, query, findings)


def objects(value: object) -> list[Answer]:
    """Return the JSON objects in a list, or those that are the values of an object; everything else is left out."""
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [each for each in values if isinstance(each, dict)]


def text(value: object) -> str:
    """Return a JSON string; empty where the value is none."""
    return value if isinstance(value, str) else ""


def _json_object(markdown: str) -> Answer | None:
    try:
        # Not strict: a line break within a string, which careless engines send, loses nothing.
        value = json.loads(unfenced(markdown), strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _page(document: Document, query: str, findings: Findings) -> Document:
    links = _links(document, findings.results)
    items = "".join(
        f'<li value="{link.number}"><a n="{link.number}">{_html(link.text)}</a><br>{_html(link.context)}</li>'
        for link in links
    )
    nothing = f"<p>Nothing was found for {_html(repr(query))}. {_html(findings.hint)}</p>"
    markdown = render(f"<h1>{_html(_title(query))}</h1>" + (f"<ol>{items}</ol>" if links else nothing))
    return replace(document, title=_title(query), markdown=markdown, links=links, controls=())


def _links(document: Document, results: Sequence[Result]) -> tuple[Link, ...]:
    found: dict[str, Result] = {}
    for result in results:
        url = _absolute(result.url.strip(), base=document.url)
        if url:
            found.setdefault(page_key(url), replace(result, url=url))
    return tuple(
        Link(
            number=number,
            text=_line(result.title) or result.url,
            url=result.url,
            context=_shortened(_line(result.snippet)),
            found=True,
        )
        for number, result in enumerate(list(found.values())[:MAX_RESULTS], start=1)
    )


def _absolute(url: str, *, base: str) -> str:
    """Return the address as a browser would open it; empty where it is no address of a page."""
    try:
        parts = urlsplit(urljoin(base, url))
        return parts.geturl() if url and parts.scheme in ("http", "https") and parts.hostname else ""
    except ValueError:  # such as a host with one bracket
        return ""


def _title(query: str) -> str:
    return f"Search results for {_line(query)!r}"


def _html(plain: str) -> str:
    return escape(_line(plain), quote=False)


def _line(plain: str) -> str:
    return " ".join(_INVISIBLE.sub("", plain).split())


def _shortened(line: str) -> str:
    return line if len(line) <= _MAX_SNIPPET_CHARACTERS else f"{line[: _MAX_SNIPPET_CHARACTERS - 1].rstrip()}…"
