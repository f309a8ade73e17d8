"""Draws the facts that a page states and that no model can know.

Invariant: a fact depends only on the seed, its page and its name, never on the language or on what was drawn before,
so both halves of the site agree and adding a page changes no other.

A specification is a kind and its arguments: `room`, `person`, `weekday`, `time`, `hours`, `phone`, `version`,
`integer:LOW:HIGH[:STEP]`, `money:LOW:HIGH:STEP`, `year:LOW:HIGH`, `month:FIRST_YEAR:LAST_YEAR`, `date:…` likewise,
`pick:LIST`, `code:PREFIX`; in tables also `slot`, the time that goes with the row's place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from evals.site.words import Words

TABLE_ROWS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """Draws facts in one language.

    Attributes:
        seed: The site's seed.
        words: The language.
        people: Names of everyone who can be named, in an order all languages share.
    """

    seed: int
    words: Words
    people: Sequence[str]

    def facts(self, page: str, specs: Mapping[str, str]) -> dict[str, str]:
        """Draw all facts of one page; `page` is its path below the root."""
        facts = {name: self._one(spec, self._random(page, name)) for name, spec in specs.items()}
        named = [name for name, spec in specs.items() if spec == "person"]
        # Nobody reviews their own report: one page's people are all different.
        return facts | dict(zip(named, self._random(page, "people").sample(self.people, len(named)), strict=True))

    def rows(self, page: str, columns: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
        """Draw a table; picked words do not recur within their column."""
        drawn = [self._column(spec, self._random(page, name)) for name, spec in columns.items()]
        return tuple(zip(*drawn, strict=True))

    def _random(self, page: str, name: str) -> Random:
        return Random(f"{self.seed}:{page}:{name}")  # noqa: S311 (content, no secret)

    def _column(self, spec: str, random: Random) -> list[str]:
        if spec == "slot":
            return [f"{9 + row:02d}:15" for row in range(TABLE_ROWS)]
        kind, *arguments = spec.split(":")
        if kind == "pick":
            return random.sample(self.words.lists[arguments[0]], TABLE_ROWS)
        return [self._one(spec, random) for _ in range(TABLE_ROWS)]

    def _one(self, spec: str, random: Random) -> str:
        kind, *arguments = spec.split(":")
        match kind:
            case "person":
                return random.choice(self.people)
            case "pick":
                return random.choice(self.words.lists[arguments[0]])
            case "code":
                return f"{arguments[0]}-{random.randint(2022, 2025)}/{random.randint(1, 60):02d}"
            case "weekday":
                return random.choice(self.words.lists["weekdays"])
            case "integer" | "money" | "year" | "month" | "date":
                return self._number(kind, [int(argument) for argument in arguments], random)
            case _:
                return self._mark(kind, random)

    def _number(self, kind: str, bounds: Sequence[int], random: Random) -> str:
        low, high, *step = bounds
        number = random.randrange(low, high + 1, *step)
        phrases = self.words.phrases
        month = random.choice(self.words.lists["months"])
        match kind:
            case "month":
                return phrases["month"].format(month=month, year=number)
            case "date":
                return phrases["date"].format(day=random.randint(1, 28), month=month, year=number)
            case "year":
                return str(number)
            case "money":
                return phrases["money"].format(amount=f"{number:,}")
            case _:
                return f"{number:,}"

    def _mark(self, kind: str, random: Random) -> str:
        match kind:
            case "room":
                return f"{random.choice('ABCDEF')} {random.randint(1, 4)}{random.randint(1, 39):02d}"
            case "time":
                return f"{random.randint(8, 17):02d}:{random.choice(('00', '15', '30', '45'))}"
            case "hours":
                opens, closes = random.randint(8, 11), random.randint(15, 19)
                return self.words.phrases["hours"].format(opens=f"{opens:02d}:30", closes=f"{closes}:00")
            case "phone":
                return str(random.randint(2100, 7899))
            case "version":
                return f"{random.randint(1, 6)}.{random.randint(0, 9)}.{random.randint(0, 9)}"
        raise ValueError(f"no fact of kind {kind!r}")
