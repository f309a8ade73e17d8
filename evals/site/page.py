"""What a page of the demo site consists of.

Invariant: a page is a plain value that says everything its reader will see below the frame; the client only draws it.
The fields are also the JSON the client gets, so `static/render.js` knows these names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One link.

    Attributes:
        text: What is written on it.
        path: Where it leads; a hash route carries its fragment (`/en/handbook#/chapter/travel`).
        rel: The `rel` attribute, empty where absent.
        language: The `hreflang` attribute, empty where absent.
        download: Whether it carries a `download` attribute.
        hidden: Whether no person can see it (a honeypot).
    """

    text: str
    path: str
    rel: str = ""
    language: str = ""
    download: bool = False
    hidden: bool = False


Inline = str | Link


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading between blocks."""

    text: str
    kind: Literal["heading"] = "heading"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """Running text with links in it."""

    parts: tuple[Inline, ...]
    kind: Literal["paragraph"] = "paragraph"


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One term and what is said of it."""

    term: str
    value: Inline


@dataclass(frozen=True, slots=True, kw_only=True)
class Definitions:
    """A definition list."""

    entries: tuple[Definition, ...]
    kind: Literal["definitions"] = "definitions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One item of a listing; where the title is no link itself, `more` is ("Read more")."""

    title: Inline
    summary: str = ""
    more: Link | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A list of other pages, fetched by the client after the page itself."""

    entries: tuple[Entry, ...]
    kind: Literal["listing"] = "listing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table, fetched by the client after the page itself."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Inline, ...], ...]
    kind: Literal["table"] = "table"


Block = Heading | Paragraph | Definitions | Listing | Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One document of the site.

    Attributes:
        path: Its address on the site.
        lang: `en` or `zh`.
        title: Its heading.
        breadcrumbs: Links to the pages above it, the root first.
        blocks: What it shows, in order.
    """

    path: str
    lang: str
    title: str
    breadcrumbs: tuple[Link, ...] = ()
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What stands around every page of one language.

    Attributes:
        name: The organisation's name.
        lang: `en` or `zh`.
        navigation: Links at the top.
        account: Links of the visitor's session, at the top; following them has effects.
        footer: Links at the bottom.
        not_found: What the client says where there is no page.
        failed: What it says where the data did not come.
    """

    name: str
    lang: str
    navigation: tuple[Link, ...]
    account: tuple[Link, ...]
    footer: tuple[Link, ...]
    not_found: str
    failed: str


def block_links(block: Block) -> tuple[Link, ...]:
    """Return the links of one block, in document order."""
    match block:
        case Heading():
            return ()
        case Paragraph(parts=parts):
            inlines: tuple[Inline | None, ...] = parts
        case Definitions(entries=definitions):
            inlines = tuple(definition.value for definition in definitions)
        case Listing(entries=entries):
            inlines = tuple(inline for entry in entries for inline in (entry.title, entry.more))
        case Table(rows=rows):
            inlines = tuple(cell for row in rows for cell in row)
    return tuple(inline for inline in inlines if isinstance(inline, Link))


def block_text(block: Block) -> str:
    """Return what a person reads of one block, a line for each of its parts."""

    def plain(*inlines: Inline | None) -> str:
        return " ".join(inline.text if isinstance(inline, Link) else inline for inline in inlines if inline)

    match block:
        case Heading():
            return block.text
        case Paragraph(parts=parts):
            return "".join(map(plain, parts))
        case Definitions(entries=definitions):
            return "\n".join(plain(definition.term, definition.value) for definition in definitions)
        case Listing(entries=entries):
            return "\n".join(plain(entry.title, entry.summary, entry.more) for entry in entries)
        case Table(columns=columns, rows=rows):
            return "\n".join(plain(*row) for row in (columns, *rows))
