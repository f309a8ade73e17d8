"""The site's texts and word lists, read from the TOML files beside this module.

Invariant: all languages have the same pages, facts and list lengths, so that one draw means the same in each of them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, Self, cast, get_args

Style = Literal["titles", "both", "cards"]
"""How a listing shows its entries: linked titles; linked titles with summaries; plain titles with "Read more"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Templates of a question and of its answer, which stands literally on the page."""

    ask: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageText:
    """Templates of one page that is written out by hand."""

    title: str
    summary: str
    paragraphs: tuple[str, ...]
    asks: tuple[Ask, ...]

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Self:
        """Build from the parsed TOML of one page."""
        return cls(
            title=raw["title"],
            summary=raw["summary"],
            paragraphs=tuple(raw["paragraphs"]),
            asks=tuple(Ask(**ask) for ask in raw.get("asks", ())),
        )


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic's name, and what it is about in other words."""

    name: str
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KindText:
    """Templates of a kind of page: its index page, and the page of each topic.

    Attributes:
        page: The index page's own text; its paragraphs and asks belong to the topics' pages.
        intro: The index page's paragraphs.
        style: How the index page lists the topics.
        entry: What is said of a topic in listings.
        labels: Facts that are also shown as a definition list, with their labels.
        table: Title of the table, empty where the kind has none.
        columns: The table's columns.
        topics: What its pages may be about, by slug.
    """

    page: PageText
    intro: tuple[str, ...]
    style: Style
    entry: str
    labels: Mapping[str, str]
    table: str
    columns: tuple[str, ...]
    topics: Mapping[str, Topic]

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Self:
        """Build from the parsed TOML of one kind."""
        table = raw.get("table", {})
        return cls(
            page=PageText.parse(raw),
            intro=tuple(raw["intro"]),
            style=style(raw["style"]),
            entry=raw["entry"],
            labels=raw["labels"],
            table=table.get("title", ""),
            columns=tuple(table.get("columns", ())),
            topics={slug: Topic(*texts) for slug, texts in raw.get("topics", {}).items()},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontSection:
    """One section of the root page: the first `count` pages below `source`."""

    heading: str
    source: str
    count: int
    style: Style


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Everything that is said in one language.

    Attributes:
        lang: `en` or `zh`.
        phrases: Single phrases and formats by name.
        account: Texts of the links that have effects.
        lists: Word lists that facts are drawn from.
        intro: The root page's paragraphs above its sections.
        closing: The root page's paragraphs below them.
        sections: The root page's sections.
        kinds: Kinds of pages by slug.
        pages: Pages that are written out, by path below the root.
    """

    lang: str
    phrases: Mapping[str, str]
    account: Mapping[str, str]
    lists: Mapping[str, tuple[str, ...]]
    intro: tuple[str, ...]
    closing: tuple[str, ...]
    sections: tuple[FrontSection, ...]
    kinds: Mapping[str, KindText]
    pages: Mapping[str, PageText]


@dataclass(frozen=True, slots=True, kw_only=True)
class KindSpec:
    """How many pages of a kind there are, and how their facts are drawn.

    Attributes:
        parent: Path of the page above the kind's index page, empty for the root.
        count: How many topics are taken.
        questions: How many of them are asked about.
        facts: Fact name to the specification of its draw (see `evals.site.facts`).
        table: Column name to the specification of its draws, empty where the kind has no table.
    """

    parent: str
    count: int
    questions: int
    facts: Mapping[str, str]
    table: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """What all languages share."""

    languages: tuple[str, ...]
    people_per_unit: int
    navigation: tuple[str, ...]
    footer: tuple[str, ...]
    kinds: Mapping[str, KindSpec]
    pages: Mapping[str, Mapping[str, str]]


def style(text: str) -> Style:
    """Check a listing style.

    Raises:
        ValueError: There is no such style.
    """
    if text not in get_args(Style):
        raise ValueError(f"no listing style {text!r}: use one of {', '.join(get_args(Style))}")
    return cast("Style", text)


def load_structure() -> Structure:
    """Read what all languages share."""
    raw = _read("structure")
    kinds = {slug: KindSpec(**{"table": {}, **kind}) for slug, kind in raw["kinds"].items()}
    return Structure(
        languages=tuple(raw["languages"]),
        people_per_unit=raw["people_per_unit"],
        navigation=tuple(raw["navigation"]),
        footer=tuple(raw["footer"]),
        kinds=kinds,
        pages={path: page.get("facts", {}) for path, page in raw["pages"].items()},
    )


def load_words(lang: str) -> Words:
    """Read the texts of one language."""
    raw = _read(lang)
    front = raw["front"]
    return Words(
        lang=lang,
        phrases={name: text for name, text in raw.items() if isinstance(text, str)},
        account=raw["account"],
        lists={name: tuple(words) for name, words in raw["lists"].items()},
        intro=tuple(front["intro"]),
        closing=tuple(front["closing"]),
        sections=tuple(FrontSection(**{**section, "style": style(section["style"])}) for section in front["sections"]),
        kinds={slug: KindText.parse(kind) for slug, kind in raw["kinds"].items()},
        pages={path: PageText.parse(page) for path, page in raw["pages"].items()},
    )


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "text" / f"{name}.toml").read_text(encoding="utf-8"))
