"""Chains of articles: how an article is described by others, and what must be read to know which one is meant.

Invariant: a description fits one article only, and only by reading every article of the chain is it known which.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from evals.encyclopaedia.article import list_title
from evals.encyclopaedia.world import Entity, World, number, path_of, shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """One article of a chain.

    Attributes:
        path: Its address.
        query: What a person types to find it, who knows what the question and the stops before say.
    """

    path: str
    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """A description of an article.

    Attributes:
        phrase: The description, in words.
        stops: The articles to read, the described one last.
        end: What is described.
        is_tabular: Whether one of them is found in a table.
    """

    phrase: str
    stops: tuple[Stop, ...]
    end: Entity
    is_tabular: bool = False

    @property
    def ends_in_table(self) -> bool:
        """Whether the described article is the very one that was found in a table."""
        return self.is_tabular and len(self.stops) == 2

    @property
    def paths(self) -> frozenset[str]:
        """The addresses of the articles."""
        return frozenset(stop.path for stop in self.stops)


def called(world: World, entity: Entity) -> str:
    """Return what running text calls an article that is known by name."""
    kind = world.kind_of(entity)
    known = {name: shown(fact) for name, fact in entity.facts.items()}
    return kind.called.format_map({**known, "name": entity.name})


class Chains:
    """Draws chains.

    Args:
        world: What is true.
        random: Draws.
        tabular_share: How many of those that are long enough begin in a table.
    """

    def __init__(self, world: World, random: Random, *, tabular_share: float) -> None:
        self._world = world
        self._random = random
        self._tabular_share = tabular_share
        self._everything = [entity for members in world.entities.values() for entity in members]
        self._tops = [chain for kind in world.entities for chain in self._superlatives(kind)]

    def draw(self, length: int) -> Chain | None:
        """Draw a chain of so many articles; None where the draw came to a dead end."""
        chain: Chain | None = self._start(length)
        while chain is not None and len(chain.stops) < length:
            chain = self._step(chain)
        return chain

    def _start(self, length: int) -> Chain:
        if length > 1 and self._random.random() < self._tabular_share:
            return self._random.choice(self._tops)
        entity = self._random.choice(self._everything)
        phrase = called(self._world, entity)
        return Chain(phrase=phrase, stops=(Stop(path=entity.path, query=phrase.removeprefix("the ")),), end=entity)

    def _step(self, chain: Chain) -> Chain | None:
        """Go one article further; None where every way leads back."""
        kind = self._world.kind_of(chain.end)
        # What the table says already takes no reading of the article.
        known = set(kind.columns.values()) if chain.ends_in_table else set()
        reached = {each: self._world.only(chain.end, each) for each in kind.relations if each not in known}
        ways = [(expression, found) for expression, found in reached.items() if found and _is_new(found, chain)]
        if not ways:
            return None
        expression, found = self._random.choice(ways)
        return Chain(
            phrase=kind.relations[expression].format(x=chain.phrase),
            stops=(*chain.stops, Stop(path=found.path, query=found.name)),
            end=found,
            is_tabular=chain.is_tabular,
        )

    def _superlatives(self, kind: str) -> Iterator[Chain]:
        """Yield what has the most or the least of something in its region, where that is one article alone."""
        told = self._world.country.kinds[kind]
        title = list_title(self._world, told)
        listed = Stop(path=path_of(title), query=f"list of {told.plural}")
        for region in self._world.entities["region"]:
            there = [each for each in self._world.entities[kind] if self._world.only(each, told.region) is region]
            for fact, value in told.values.items():
                for noun, sign in ((value.highest, -1), (value.lowest, 1)):
                    ranked = sorted(there, key=lambda each: sign * number(each, fact))
                    if noun and len(ranked) > 1 and number(ranked[0], fact) != number(ranked[1], fact):
                        yield Chain(
                            phrase=f"{noun} in {region.name}",
                            stops=(listed, Stop(path=ranked[0].path, query=ranked[0].name)),
                            end=ranked[0],
                            is_tabular=True,
                        )


def _is_new(entity: Entity, chain: Chain) -> bool:
    """Whether the chain neither passes it nor names it, as "the mountain of the Mount Yoke Observatory" does."""
    named = f"{chain.phrase}\n{chain.end.name}"
    return entity.path not in chain.paths and entity.name not in named
