"""FRAMES: questions that need several Wikipedia articles, and so a search (arXiv 2409.12941).

Invariant: one question a row, in the file's order; each article is one source, however often and in however many
spellings its address stands in the row.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit, urlunsplit

from browser.address import page_key
from evals.suites.item import SEARCH, Item
from evals.suites.row import Row, read_rows

_CELLS = (*(f"wikipedia_link_{number}" for number in range(1, 11)), "wikipedia_link_11+")
_LIST = "wiki_links"
# Cells hold several addresses with commas between them, and remarks; titles hold commas too, but none before a blank.
_BETWEEN = re.compile(r"\s+|,(?=https?://)")
_ADDRESS = re.compile(r"(https?://)?[\w-]+(\.[\w-]+)+/\S+")
_TYPES = re.compile(r"\s*\|\s*")


def load_frames(path: Path) -> tuple[Item, ...]:
    """Read the dataset from its TSV file, or from a copy as CSV, JSON or JSON lines.

    A question's kind is `multi_source`, its domain the types of reasoning it needs, with ` | ` between them. A way to
    an article is a search for its title, then its address.

    Raises:
        ItemsInvalid: The file cannot be read, or a row is no question of this dataset.
    """
    return tuple(_item(row) for row in read_rows(path))


def _item(row: Row) -> Item:
    sources = tuple({page_key(address): address for address in _addresses(row)}.values())
    return Item(
        id=f"frames-{row.number}",
        question=row.text("Prompt", "prompt", "Question", "question"),
        answer=row.text("Answer", "answer"),
        golden=tuple(_way(source) for source in sources),
        sources=sources,
        kind="multi_source",
        domain=" | ".join(_TYPES.split(row.text("reasoning_types", required=False))),
    )


def _addresses(row: Row) -> Iterator[str]:
    cells = [(name, row.text(name, required=False)) for name in _CELLS]
    for name, cell in (*cells, *((_LIST, each.strip()) for each in _listed(row))):
        found = [word for word in _words(cell) if _ADDRESS.fullmatch(word)]
        if cell and not found:
            raise row.invalid(name, "the address of an article", cell)
        yield from map(_article, found)


def _words(cell: str) -> list[str]:
    return [word.rstrip(",;") for word in _BETWEEN.split(cell)]


def _listed(row: Row) -> tuple[str, ...]:
    """Return the row's list of addresses, which tables hold as the text of a Python list."""
    raw = row.get(_LIST)
    if not isinstance(raw, str) or not raw.strip():
        return row.texts(_LIST)
    try:
        listed = ast.literal_eval(raw.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        listed = None
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise row.invalid(_LIST, "a list of addresses, as Python writes one", raw)
    return tuple(listed)


def _article(address: str) -> str:
    """Return an article's address without a place on its page; for the desktop, since searches lead there."""
    parts = urlsplit(address if "://" in address else f"https://{address}")
    return urlunsplit(parts._replace(netloc=parts.netloc.replace(".m.wikipedia.org", ".wikipedia.org"), fragment=""))


def _way(source: str) -> tuple[str, ...]:
    title = _title(source)
    return (f"{SEARCH}{title}", source) if title else (source,)


def _title(source: str) -> str:
    """Return an article's title, or what a page of search results was asked; empty for a short link."""
    parts = urlsplit(source)
    if parts.path.startswith("/wiki/"):
        return unquote(parts.path.removeprefix("/wiki/")).replace("_", " ")
    query = parse_qs(parts.query)
    return (query.get("search") or query.get("title") or [""])[0].replace("_", " ")
