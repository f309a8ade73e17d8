"""Draws the questions: as many articles to each as FRAMES has, and of its kinds.

FRAMES (https://huggingface.co/datasets/google/frames-benchmark) names 2 articles for 38 % of its 824 questions, 3 for
35 %, 4 for 16 %, 5 to 15 for the rest.

Invariant: the articles of a question are all different, and no two questions are equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import MappingProxyType
from typing import get_args

from evals.encyclopaedia.chain import Chain, Chains
from evals.encyclopaedia.forms import (
    Asked,
    Form,
    Reasoning,
    about_one,
    difference,
    first_or_most,
    total,
    years_between,
)
from evals.encyclopaedia.world import World

COUNTS: Mapping[int, int] = MappingProxyType({2: 45, 3: 42, 4: 20, 5: 5, 6: 3, 7: 2, 8: 1, 12: 1, 15: 1})
"""How many questions stand on how many articles."""

_PLANS: Mapping[int, tuple[tuple[int, ...], ...]] = MappingProxyType(
    {
        2: ((2,), (1, 1)),
        3: ((3,), (1, 2), (2, 1), (1, 1, 1)),
        4: ((4,), (2, 2), (1, 3), (1, 1, 2)),
        5: ((2, 3), (2, 2, 1), (1, 1, 1, 2)),
        6: ((3, 3), (2, 2, 2)),
        7: ((3, 4), (2, 2, 3)),
        8: ((2, 2, 2, 2), (3, 3, 2)),
        12: ((3, 3, 3, 3),),
        15: ((3, 3, 3, 3, 3),),
    }
)
"""The lengths of the chains that so many articles are spread over."""

# Weighted so that about as many questions take time (34 %) and tables (29 %) as in FRAMES.
_COMPARING: Mapping[Form, int] = MappingProxyType({first_or_most: 2, years_between: 4, difference: 1, total: 1})
_TABULAR_SHARE = 0.45
_SAME_SHAPE = 3
_ATTEMPTS = 4000
_CHAIN_ATTEMPTS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnQuestion:
    """One question with what it stands on."""

    asked: Asked
    chains: tuple[Chain, ...]

    @property
    def kind(self) -> str:
        """What answering it takes, as FRAMES writes it."""
        needed: set[Reasoning] = set(self.asked.reasoning)
        if any(chain.is_tabular for chain in self.chains):
            needed.add("Tabular reasoning")
        if any(len(chain.stops) > (2 if chain.is_tabular else 1) for chain in self.chains):
            needed.add("Multiple constraints")
        return " | ".join(name for name in get_args(Reasoning) if name in needed)


def draw_questions(seed: int, world: World) -> tuple[DrawnQuestion, ...]:
    """Draw the questions, in an order that a part of is like the whole."""
    drawer = _Drawer(world, Random(f"{seed}:questions"))  # noqa: S311 (content, no secret)
    # Those on many articles are drawn first, while all shapes may still be used.
    drawn = [drawer.draw(articles) for articles, count in sorted(COUNTS.items(), reverse=True) for _ in range(count)]
    Random(f"{seed}:order").shuffle(drawn)  # noqa: S311 (content, no secret)
    return tuple(drawn)


class _Drawer:
    def __init__(self, world: World, random: Random) -> None:
        self._world = world
        self._random = random
        self._chains = Chains(world, random, tabular_share=_TABULAR_SHARE)
        self._shapes: Counter[str] = Counter()
        self._ends: Counter[str] = Counter()

    def draw(self, articles: int) -> DrawnQuestion:
        """Draw a question on so many articles that is unlike most before."""
        for _ in range(_ATTEMPTS):
            plan = self._random.choice(_PLANS[articles])
            form = about_one if len(plan) == 1 else self._random.choices([*_COMPARING], [*_COMPARING.values()])[0]
            chains = self._chains_of(plan, alike=form is not years_between)
            asked = form(self._world, self._random, chains) if chains else None
            if asked and self._shapes[asked.shape] < _SAME_SHAPE:
                self._shapes[asked.shape] += 1
                self._ends.update(chain.end.path for chain in chains)
                return DrawnQuestion(asked=asked, chains=tuple(chains))
        raise ValueError(f"found no question on {articles} articles")

    def _chains_of(self, plan: Sequence[int], *, alike: bool) -> list[Chain]:
        """Draw chains of these lengths that share no article; empty where that fails."""
        chains: list[Chain] = []
        for length in plan:
            found = next((each for each in self._candidates(length) if self._fits(each, chains, alike=alike)), None)
            if found is None:
                return []
            chains.append(found)
        return chains

    def _candidates(self, length: int) -> Iterator[Chain]:
        for _ in range(_CHAIN_ATTEMPTS):
            if chain := self._chains.draw(length):
                yield chain

    def _fits(self, chain: Chain, others: Sequence[Chain], *, alike: bool) -> bool:
        if self._ends[chain.end.path]:
            return False
        if alike and others and others[0].end.kind != chain.end.kind:
            return False
        return all(chain.paths.isdisjoint(other.paths) for other in others)
