"""What the sites of one domain and language are written from: the TOML files in `text`.

`DOMAIN.toml` says which kinds of pages there are, how they hang together and how their facts are drawn;
`DOMAIN.LANG.toml` has their texts, `LANG.toml` what all domains of a language share.

Invariant: a kind's parent is declared before it, and every kind has its texts in every language.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Style = Literal["titles", "both", "cards", "teasers", "table"]
"""How pages are listed: linked titles; with summaries; plain titles and "Read more"; long linked texts; a table."""

Relation = Literal["first", "most", "sum", "both"]
"""What a question over several pages makes of their facts: least, greatest, their sum, or all of them."""

DOMAINS = ("organization", "conference", "education", "game")
LANGUAGES = ("en", "zh")


@dataclass(frozen=True, slots=True, kw_only=True)
class KindSpec:
    """A kind of page, in every language.

    Attributes:
        parent: The kind of the page above; empty: it is a section of the site, a single page below the root.
        count: How many there are below each page of that kind, where there are names enough.
        style: How they are listed.
        columns: Facts that a table of them shows.
        refs: The kind of page that each of them is about, beside the one above it; empty: none.
        bulk: Whether there are as many as the root page needs.
        limit: How many of them the root page links to at most.
        facts: Fact name to the specification of its draw; see `evals.walks.facts`.
    """

    parent: str = ""
    count: int = 1
    style: Style = "titles"
    columns: tuple[str, ...] = ()
    refs: str = ""
    bulk: bool = False
    limit: int = 9999
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """What a page may be about.

    Attributes:
        name: Its title.
        about: The same in other words; may be empty.
        below: Topics of the pages anywhere below it, by kind.
    """

    name: str
    about: str = ""
    below: Mapping[str, tuple[Topic, ...]] = field(default_factory=dict)

    @classmethod
    def parse(cls, raw: str | Mapping[str, Any]) -> Topic:
        """Build from parsed TOML: a name alone, or a table."""
        if isinstance(raw, str):
            return cls(name=raw)
        below = {kind: tuple(map(cls.parse, topics)) for kind, topics in raw.items() if isinstance(topics, list)}
        return cls(name=raw["name"], about=raw.get("about", ""), below=below)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Template of a question for one fact of one page."""

    fact: str
    ask: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Relate:
    """Template of a question for the same fact of two or three pages.

    Attributes:
        relation: What is made of the facts.
        fact: The fact.
        ask: The template; `{a}`, `{b}` and perhaps `{c}` stand for the pages, `{a_parent}` for the one
            above the first, `{a_above}` for the one above that.
        by: How it calls the pages, `name` or `about`.
    """

    relation: Relation
    fact: str
    ask: str
    by: Literal["name", "about"] = "name"

    @property
    def pages(self) -> int:
        """How many pages it is about."""
        return 3 if "{c}" in self.ask else 2


@dataclass(frozen=True, slots=True, kw_only=True)
class KindText:
    """Templates of a kind of page in one language.

    Attributes:
        title: The title of a section; other kinds take theirs from `names`, or from topics.
        heading: What stands above a list of them.
        summaries: What may be said of one where it is listed.
        paragraphs: Its text.
        headers: The headings of a table of them.
        labels: Facts that are also shown as a definition list, with their labels.
        formats: How a fact is written where a bare figure says too little.
        names: Templates of titles, filled from the word lists.
        asks: Questions about one.
        multi: Questions about several.
        topics: What they are about.
    """

    title: str = ""
    heading: str = ""
    summaries: tuple[str, ...] = ()
    paragraphs: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    asks: tuple[Ask, ...] = ()
    multi: tuple[Relate, ...] = ()
    topics: tuple[Topic, ...] = ()

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> KindText:
        """Build from the parsed TOML of one kind."""
        parsed: dict[str, Any] = {
            "summaries": _several(raw.get("summary", [])),
            "names": _several(raw.get("names", [])),
            "asks": tuple(Ask(fact=fact, ask=ask) for fact, ask in raw.get("asks", ())),
            "multi": tuple(_relate(*each) for each in raw.get("multi", ())),
            "topics": tuple(map(Topic.parse, raw.get("topics", ()))),
        }
        return cls(**{name: value for name, value in _tuples(raw).items() if name != "summary"} | parsed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """Everything that sites of one domain and language are made from.

    Attributes:
        domain: The domain.
        lang: The language.
        kinds: Kinds of pages, parents first.
        texts: Their texts.
        phrases: Single phrases and formats by name.
        account: Texts of the links that have effects.
        lists: Word lists.
        names: Names of sites.
        intro: The root page's paragraphs.
        general: Sentences that may stand on any page.
        footer: Kinds of pages that footers link to.
        features: Kinds of pages that the root page shows, in order.
    """

    domain: str
    lang: str
    kinds: Mapping[str, KindSpec]
    texts: Mapping[str, KindText]
    phrases: Mapping[str, str]
    account: Mapping[str, str]
    lists: Mapping[str, tuple[str, ...]]
    names: tuple[str, ...]
    intro: tuple[str, ...]
    general: tuple[str, ...]
    footer: tuple[str, ...]
    features: tuple[str, ...]


@cache
def load_texts(domain: str, lang: str) -> Texts:
    """Read what the sites of a domain are written from in a language."""
    structure, own, shared = _read(domain), _read(f"{domain}.{lang}"), _read(lang)
    lists = shared["lists"] | own["lists"]
    return Texts(
        domain=domain,
        lang=lang,
        kinds={name: KindSpec(**_tuples(kind)) for name, kind in structure["kinds"].items()},
        texts={name: KindText.parse(kind) for name, kind in own["kinds"].items()},
        phrases={name: text for name, text in shared.items() if isinstance(text, str)},
        account=shared["account"],
        lists={name: tuple(words) for name, words in lists.items()},
        names=tuple(own["names"]),
        intro=tuple(own["intro"]),
        general=tuple(own["general"]),
        footer=tuple(structure["footer"]),
        features=tuple(structure["features"]),
    )


def _relate(relation: Relation, fact: str, ask: str, by: Literal["name", "about"] = "name") -> Relate:
    return Relate(relation=relation, fact=fact, ask=ask, by=by)


def _several(raw: str | list[str]) -> tuple[str, ...]:
    return (raw,) if isinstance(raw, str) else tuple(raw)


def _tuples(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in raw.items()}


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "text" / f"{name}.toml").read_text(encoding="utf-8"))
