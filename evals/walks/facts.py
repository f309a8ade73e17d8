"""Draws the facts that a page states and that no model can know.

A specification is a kind and its arguments: `person`, `room`, `time:FIRST:LAST` (hours), `integer:LOW:HIGH[:STEP]`,
`money:LOW:HIGH:STEP`, `decimal:LOW:HIGH` (in tenths), `year:LOW:HIGH`, `digits:LOW:HIGH` (a number that is no amount),
`month:FIRST_YEAR:LAST_YEAR`, `date:…` likewise, `version`, `pick:LIST`.

Invariant: a fact's text is what stands on its page, to the letter, and its rank orders facts of its kind as a person
would.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from evals.walks.texts import Texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact: what is written, and a figure that orders and adds up; 0 where there is none."""

    text: str
    rank: float = 0


def draw_facts(specs: Mapping[str, str], formats: Mapping[str, str], texts: Texts, random: Random) -> dict[str, Fact]:
    """Draw all facts of one page, each written the way its page writes it."""
    facts = {}
    for name, spec in specs.items():
        fact = _draw(spec, texts, random)
        facts[name] = Fact(text=formats[name].format(n=fact.text), rank=fact.rank) if name in formats else fact
    return facts


def write_number(number: float, spec: str, form: str, texts: Texts) -> str:
    """Write a sum of facts the way each of them is written."""
    kind = spec.partition(":")[0]
    text = _amount(kind, number, texts)
    return form.format(n=text) if form else text


def _draw(spec: str, texts: Texts, random: Random) -> Fact:
    kind, *arguments = spec.split(":")
    match kind:
        case "person":
            words = {name: random.choice(texts.lists[name]) for name in ("given", "family")}
            return Fact(text=texts.phrases["person"].format_map(words))
        case "pick":
            return Fact(text=random.choice(texts.lists[arguments[0]]))
        case "room":
            return Fact(text=f"{random.choice('ABCDEFGH')} {random.randint(1, 4)}{random.randint(1, 49):02d}")
        case "time":
            first, last = map(int, arguments)
            minutes = random.randrange(first * 60, last * 60, 15)
            return Fact(text=f"{minutes // 60:02d}:{minutes % 60:02d}", rank=minutes)
        case "version":
            numbers = [random.randint(1, 9), random.randint(0, 19), random.randint(0, 9)]
            return Fact(text=".".join(map(str, numbers)))
        case "month" | "date":
            return _day(kind, [int(argument) for argument in arguments], texts, random)
        case "decimal":
            tenths = random.randint(int(arguments[0]) * 10, int(arguments[1]) * 10)
            return Fact(text=_amount(kind, tenths / 10, texts), rank=tenths / 10)
    low, high, *step = (int(argument) for argument in arguments)
    number = random.randrange(low, high + 1, *step)
    return Fact(text=_amount(kind, number, texts), rank=number)


def _day(kind: str, years: list[int], texts: Texts, random: Random) -> Fact:
    year, month, day = random.randint(*years), random.randint(1, 12), random.randint(1, 28)
    text = texts.phrases[kind].format(day=day, month=texts.lists["months"][month - 1], year=year)
    return Fact(text=text, rank=year * 400 + month * 32 + (day if kind == "date" else 0))


def _amount(kind: str, number: float, texts: Texts) -> str:
    match kind:
        case "money":
            return texts.phrases["money"].format(amount=f"{number:,.0f}")
        case "integer":
            return f"{number:,.0f}"
        case "year" | "digits":
            return f"{number:.0f}"
        case "decimal":
            return f"{number:.1f}"
    raise ValueError(f"no number of kind {kind!r}")
