"""Draws the country: what there is, and what is true of it.

Invariant: facts come from the seed alone and are consistent in time: nobody builds, sails or writes before they are
grown up or after they are dead. Articles and answers are both computed from these facts, never from each other.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from evals.encyclopaedia.kinds import Country, Kind

_ATTEMPTS = 200
_GROWN_UP_YEARS = 22
_PLACEHOLDER = re.compile(r"\{([^}]+)\}")


class Year(int):
    """A year, which is written without separators."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Entity:
    """What one article is about; equal to itself only.

    Attributes:
        kind: The name of its kind.
        name: Its name and the title of its article.
        facts: What is true of it; what it has not is absent.
    """

    kind: str
    name: str
    facts: Mapping[str, Fact]

    @property
    def path(self) -> str:
        """The address of its article."""
        return path_of(self.name)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name}>"


Fact = int | str | Entity


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Everything there is.

    Attributes:
        country: The words it is told in.
        entities: All of each kind, by the kind's name.
        referring: What refers to something, by `kind<fact`.
    """

    country: Country
    entities: Mapping[str, tuple[Entity, ...]]
    referring: Mapping[str, Mapping[Entity, Sequence[Entity]]]

    def kind_of(self, entity: Entity) -> Kind:
        """Return how its kind is told."""
        return self.country.kinds[entity.kind]

    def follow(self, entity: Entity, expression: str) -> tuple[Fact, ...]:
        """Return what an expression finds from here; nothing where it is empty or there is no such thing."""
        found: tuple[Fact, ...] = (entity,)
        for step in expression.split("."):
            found = tuple(fact for each in found if isinstance(each, Entity) for fact in self._step(each, step))
        return found

    def only(self, entity: Entity, expression: str) -> Entity | None:
        """Return the article that an expression finds from here; None where that is none or several."""
        match self.follow(entity, expression):
            case (Entity() as found,):
                return found
        return None

    def _step(self, entity: Entity, step: str) -> Sequence[Fact]:
        if "<" in step:
            return self.referring[step].get(entity, ())
        if step == "name":
            return (entity.name,)
        fact = entity.facts.get(step)
        return () if fact is None else (fact,)


def path_of(title: str) -> str:
    """Return the address of the article with this title."""
    return "/wiki/" + title.replace(" ", "_").replace("\N{EN DASH}", "-")


def shown(fact: Fact) -> str:
    """Return a fact as it is written in articles."""
    if isinstance(fact, Entity):
        return fact.name
    return f"{fact:,}" if isinstance(fact, int) and not isinstance(fact, Year) else str(fact)


def number(entity: Entity, fact: str) -> int:
    """Return a fact that is a number or a year.

    Raises:
        TypeError: It is none.
    """
    return _number(entity.facts, fact)


def draw(seed: int, country: Country) -> World:
    """Draw the country that belongs to a seed."""
    drawn = _Drawn(seed, country)
    for name, kind in country.kinds.items():
        drawn.draw(name, kind)
    return World(country=country, entities=drawn.entities, referring=_referring(drawn.entities))


def _referring(entities: Mapping[str, Sequence[Entity]]) -> dict[str, dict[Entity, list[Entity]]]:
    referring: dict[str, dict[Entity, list[Entity]]] = defaultdict(lambda: defaultdict(list))
    for kind, members in entities.items():
        for entity in members:
            for fact, target in entity.facts.items():
                if isinstance(target, Entity):
                    referring[f"{kind}<{fact}"][target].append(entity)
    return {step: dict(found) for step, found in referring.items()}


class _Drawn:
    """What was drawn so far."""

    def __init__(self, seed: int, country: Country) -> None:
        self.entities: dict[str, tuple[Entity, ...]] = {}
        self._seed = seed
        self._country = country
        self._taken: set[str] = set()

    def draw(self, name: str, kind: Kind) -> None:
        self.entities[name] = tuple(self._entity(name, kind, place) for place in range(kind.count))

    def _entity(self, name: str, kind: Kind, place: int) -> Entity:
        """Draw one; again where all its names are taken, which short lists of words make likely."""
        for attempt in range(_ATTEMPTS):
            facts: dict[str, Fact] = {}
            for fact, spec in kind.facts.items():
                random = self._random(f"{name}:{place}:{attempt}:{fact}")
                found = next(iter(self._one(spec, facts, f"{name}:{fact}", place, random)), None)
                if found is not None:
                    facts[fact] = found
            for title in filter(None, (_fill(template, facts) for template in kind.names)):
                if title not in self._taken:
                    self._taken.add(title)
                    return Entity(kind=name, name=title, facts=facts)
        raise ValueError(f"the words for {kind.plural} do not suffice for {kind.count} names")

    def _random(self, purpose: str) -> Random:
        return Random(f"{self._seed}:{purpose}")  # noqa: S311 (content, no secret)

    def _one(self, spec: str, facts: Mapping[str, Fact], purpose: str, place: int, random: Random) -> Iterator[Fact]:
        """Yield the fact, if there is one."""
        name, *arguments = spec.split(":")
        match name, arguments:
            case "pick", [words]:
                yield random.choice(self._country.lists[words])
            case "turn", [words]:
                yield self._country.lists[words][place]
            case "integer", [low, high]:
                yield random.randint(int(low), int(high))
            case "year", [low, high]:
                yield Year(random.randint(int(low), int(high)))
            case "after", [start, low, high]:
                yield Year(_number(facts, start) + random.randint(int(low), int(high)))
            case "unique", [kind]:
                yield self._random(purpose).sample(self.entities[kind], len(self.entities[kind]))[place]
            case "path", [expression]:
                found = _path(facts, expression)
                if found is not None:
                    yield found
            case _:
                yield from self._reference(spec, facts, random)

    def _reference(self, spec: str, facts: Mapping[str, Fact], random: Random) -> Iterator[Entity]:
        match spec.split(":"):
            case ["maybe", percent, _] if random.randrange(100) >= int(percent):
                return
            case ["ref" | "maybe", *_, kinds]:
                candidates = [entity for kind in kinds.split("|") for entity in self.entities[kind]]
            case ["alive", kind, year]:
                candidates = [each for each in self.entities[kind] if _is_grown_up(each, _number(facts, year))]
            case ["before", origin, year]:
                kind, _, own = origin.partition(".")
                candidates = [each for each in self.entities[kind] if _number(each.facts, own) < _number(facts, year)]
            case _:
                raise ValueError(f"no specification of a fact: {spec!r}")
        if others := [each for each in candidates if each not in facts.values()]:
            yield random.choice(others)


def _fill(template: str, facts: Mapping[str, Fact]) -> str:
    """Fill a title; empty where it names what there is not."""
    found = {match[1]: _path(facts, match[1]) for match in _PLACEHOLDER.finditer(template)}
    known = {name: shown(fact) for name, fact in found.items() if fact is not None}
    return _PLACEHOLDER.sub(lambda match: known[match[1]], template) if known.keys() == found.keys() else ""


def _path(facts: Mapping[str, Fact], expression: str) -> Fact | None:
    first, _, rest = expression.partition(".")
    found = facts.get(first)
    if not rest or not isinstance(found, Entity):
        return found
    return found.name if rest == "name" else _path(found.facts, rest)


def _number(facts: Mapping[str, Fact], expression: str) -> int:
    found = _path(facts, expression)
    if not isinstance(found, int):
        raise TypeError(f"{expression!r} is no number, but {found!r}")
    return found


def _is_grown_up(person: Entity, year: int) -> bool:
    return _number(person.facts, "born") + _GROWN_UP_YEARS <= year < _number(person.facts, "died")
