"""Turns what the reader took from a page into markdown.

Invariant: `[text][12]` and `[button "Save"][c3]` in the result are always a link and a control of the page. Text that
only looks like one gets a space between its brackets.

Everything here may run in any thread. It is Python that runs long, never one long call into C, so that an event loop
beside it keeps its turns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from bs4 import BeautifulSoup, Tag
from markdownify import ATX, MarkdownConverter

# The reader takes these characters out of all text, so in here they can only stand for the brackets of markers.
_OPEN, _MIDDLE, _CLOSE = "\ue000", "\ue001", "\ue002"
_BRACKETS = {_CLOSE + _OPEN: "] [", _OPEN: "[", _MIDDLE: "][", _CLOSE: "]"}
_IMITATION = re.compile(rf"\](?=[\[{_OPEN}]c?\d+[\]{_MIDDLE}])")
_WHITE_SPACE = re.compile(r"\s+")
_FENCE = re.compile(r"(`{3,})[a-z]*\n(.*)\n\1", re.DOTALL)


class _Converter(MarkdownConverter):
    """Adds markers, and cells that hold one line whatever was in them."""

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return _marker(text, f"{el['n']}")

    def convert_control(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        state = f" {el['state']}" if el["state"] else ""
        name = _WHITE_SPACE.sub(" ", text).strip().replace('"', "'")
        return _marker(f'{el["kind"]} "{name}"{state}', f"c{el['n']}")

    def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        # The package counts the items before each one, which is quadratic.
        bullet = f"{el['value']}. " if el.has_attr("value") else "- "
        indent = " " * len(bullet)
        lines = text.strip().split("\n")
        body = "\n".join([lines[0], *(indent + line if line else line for line in lines[1:])])
        return f"{bullet}{body}\n" if body else "\n"

    def convert_pre(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        # The package's fence ends at the first one in the code.
        return f"\n\n{_fenced(text, language=str(el.get('lang') or ''))}\n\n" if text else ""

    def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return f" {_WHITE_SPACE.sub(' ', text).strip().replace('|', chr(92) + '|')} |"

    convert_th = convert_td

    def convert_tr(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        # Markdown wants a head, so the first row is it.
        rule = "| --- " * len(el.contents) + "|\n" if el.previous_sibling is None else ""
        return f"|{text}\n{rule}"


class _Tag(Tag):
    """Answers the one question that the package asks at every element, without a search object for it."""

    def find_parent(self, name: Any = None, attrs: Any = None, **_: Any) -> Tag | None:
        return next((parent for parent in self.parents if parent.name == name), None)


def _marker(text: str, number: str) -> str:
    inner = text.strip()
    if not inner:
        return ""
    before = " " if text[0].isspace() else ""
    after = " " if text[-1].isspace() else ""
    return f"{before}{_OPEN}{inner}{_MIDDLE}{number}{_CLOSE}{after}"


def render(html: str) -> str:
    """Render one piece of the reader's clean HTML as markdown."""
    soup = BeautifulSoup(html, "html.parser", element_classes={Tag: _Tag})
    try:
        markdown = _converter().convert_soup(soup)
    except RecursionError:  # nested deeper than the reader ever writes
        markdown = soup.get_text("\n")
    soup.decompose()  # no work for the garbage collector, which would stop every thread
    return _plain_brackets(markdown).strip("\n")


def render_text(pieces: Iterable[str], *, content_type: str) -> str:
    """Render a document that is no HTML: plain text as it is, anything else in a code fence."""
    text = _IMITATION.sub("] ", "".join(pieces)).strip("\n")
    if content_type in {"text/plain", "text/markdown"} or not text:
        return text
    return _fenced(
        text, language="json" if content_type.endswith("json") else "xml" if content_type.endswith("xml") else ""
    )


def unfenced(markdown: str) -> str:
    """Return what stands in the code fence of a document that is no HTML; markdown without one as it is."""
    found = _FENCE.fullmatch(markdown)
    return found[2] if found else markdown


def _fenced(text: str, *, language: str) -> str:
    longest = max(map(len, re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _plain_brackets(markdown: str) -> str:
    markdown = _IMITATION.sub("] ", markdown)
    for private, bracket in _BRACKETS.items():
        markdown = markdown.replace(private, bracket)
    return markdown


def _converter() -> _Converter:
    return _Converter(
        heading_style=ATX,
        escape_asterisks=False,
        escape_underscores=False,
    )
