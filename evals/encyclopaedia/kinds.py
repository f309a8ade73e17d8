"""What the encyclopaedia's articles are about and how they are worded, read from the TOML files beside this module.

Invariant: all words come from these files; code knows no kind of article by its name.

A fact is drawn by a specification, a word with arguments: `pick:LIST` any word of a list; `turn:LIST` each of its words
in turn; `integer:LOW:HIGH`; `year:LOW:HIGH`; `after:YEAR:LOW:HIGH` that many years later; `ref:KIND|KIND` any other
article; `maybe:PERCENT:KIND|KIND` likewise, but not for all; `unique:KIND` each at most once; `alive:KIND:YEAR` a
person grown up and alive in that year; `before:KIND.FACT:YEAR` an article whose own year is earlier;
`path:EXPRESSION`.

An expression says what is found from an article: a fact of it (`river`), one further away (`town.river`), or whatever
refers to it by a fact (`bridge<engineer`: the bridges of an engineer). In texts, `{@year}` also links the decade, and
`{-person}` links nothing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

PERSON = "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One section of an article: sentences, of which those stay out that name what there is not."""

    heading: str
    text: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What is told in the article on a decade: the fact with its year, and the sentence."""

    fact: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """How a number or a year is asked about; `{x}`, `{a}` and `{b}` stand for articles.

    Attributes:
        ask: The question for it.
        event: For a year: what happened in it.
        first: For a year: asks which of two was earlier.
        quantity: For a number: what it counts or measures.
        more: For a number: asks which of two has more.
        unit: Its unit; empty: none.
        highest: What has the most of it among others; empty: not asked.
        lowest: What has the least; empty: not asked.
    """

    ask: str
    event: str = ""
    first: str = ""
    quantity: str = ""
    more: str = ""
    unit: str = ""
    highest: str = ""
    lowest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of article.

    Attributes:
        plural: What several are called.
        count: How many there are.
        names: Templates of their titles; the first that is complete and not taken is used.
        called: How running text calls one.
        region: The expression for its region; empty: it has none.
        place: The fact that is its town; empty: it has none.
        events: What is told of it in the articles on the decades.
        facts: Fact name to specification, in the order in which they are drawn.
        sections: Its text.
        infobox: Label to expression.
        columns: Column of the list of them to expression.
        relations: Expression to what its target is called, `{x}` standing for the article.
        asks: Expression to a question whose answer is its target's name.
        values: Fact name to how it is asked about.
    """

    plural: str
    count: int
    names: tuple[str, ...]
    called: str = "{name}"
    region: str = ""
    place: str = ""
    events: tuple[Event, ...] = ()
    facts: Mapping[str, str]
    sections: tuple[Section, ...]
    infobox: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    relations: Mapping[str, str] = field(default_factory=dict)
    asks: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Country:
    """The invented country: its kinds of articles by name, in the order they are drawn, and its words."""

    name: str
    kinds: Mapping[str, Kind]
    lists: Mapping[str, tuple[str, ...]]
    welcome: str
    about: str


def load_country() -> Country:
    """Read everything that is said about the country."""
    raw = _read("country.toml")
    shared = raw[PERSON]
    return Country(
        name=raw["name"],
        kinds={name: _kind(_read(f"kinds/{name}.toml"), shared) for name in raw["kinds"]},
        lists={name: tuple(words) for name, words in raw["lists"].items()},
        welcome=raw["welcome"],
        about=raw["about"],
    )


def _kind(raw: dict[str, Any], shared: Mapping[str, Any]) -> Kind:
    if raw.pop("like", "") == PERSON:
        raw = _merge(shared, raw)
    return Kind(
        **raw
        | {
            "names": tuple(raw["names"]),
            "events": tuple(Event(**event) for event in raw.get("events", ())),
            "sections": tuple(Section(heading=each["heading"], text=tuple(each["text"])) for each in raw["sections"]),
            "values": {name: Value(**value) for name, value in raw.get("values", {}).items()},
        }
    )


def _merge(shared: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**shared, **own}
    for name in shared.keys() & own.keys():
        if isinstance(own[name], dict):
            merged[name] = {**shared[name], **own[name]}
    return merged


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "text" / name).read_text(encoding="utf-8"))
