"""Forms of questions: what is asked about one article or about several.

Invariant: an answer is computed from facts, and takes every article of its chains. A form that does not fit its
chains, or whose answer is not clear-cut or stands in the question, gives nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from evals.encyclopaedia.chain import Chain
from evals.encyclopaedia.kinds import Value
from evals.encyclopaedia.world import Entity, World, number, shown

Reasoning = Literal["Numerical reasoning", "Tabular reasoning", "Multiple constraints", "Temporal reasoning"]
"""What FRAMES calls its kinds, in the order in which it joins them."""

_MOST_COMPARED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question with its answer.

    Attributes:
        question: What is asked.
        answer: The answer.
        shape: What it has in common with others; used to keep questions from being all alike.
        reasoning: What answering takes, beyond what its chains take.
    """

    question: str
    answer: str
    shape: str
    reasoning: frozenset[Reasoning]


Form = Callable[[World, Random, Sequence[Chain]], Asked | None]


def about_one(world: World, random: Random, chains: Sequence[Chain]) -> Asked | None:
    """Ask for a number, a year or a name that the last article of a chain says."""
    (chain,) = chains
    kind = world.kind_of(chain.end)
    asks = {fact: value.ask for fact, value in kind.values.items()} | dict(kind.asks)
    fact = random.choice(list(asks))
    found = world.follow(chain.end, fact)
    question = asks[fact].format(x=chain.phrase)
    is_passed = bool(found) and isinstance(found[0], Entity) and found[0].path in chain.paths
    if not found or is_passed or _is_known_before(world, chain, fact):
        return None
    return Asked(question=question, answer=shown(found[0]), shape=f"one {chain.end.kind} {fact}", reasoning=frozenset())


def first_or_most(world: World, random: Random, chains: Sequence[Chain]) -> Asked | None:
    """Ask which of several was earlier, or has more."""
    shared = _shared(world, random, chains)
    if shared is None or len(chains) > _MOST_COMPARED:
        return None
    fact, value = shared
    template = value.first or value.more
    ranked = sorted(chains, key=lambda chain: number(chain.end, fact), reverse=bool(value.more))
    is_pair_only = "that of {b}" in template
    if not _differ(ranked, fact) or (is_pair_only and len(chains) > 2):
        return None
    *others, last = [chain.phrase for chain in chains]
    return Asked(
        question=template.format(a=", ".join(others), b=last),
        answer=ranked[0].end.name,
        shape=f"which {chains[0].end.kind} {fact}",
        reasoning=frozenset({"Temporal reasoning" if value.first else "Numerical reasoning"}),
    )


def years_between(world: World, random: Random, chains: Sequence[Chain]) -> Asked | None:
    """Ask how many years passed between two events, of whatever kind."""
    if len(chains) != 2:
        return None
    dated = [
        [(fact, value) for fact, value in world.kind_of(chain.end).values.items() if value.event] for chain in chains
    ]
    if not all(dated):
        return None
    (one, first), (two, second) = (random.choice(values) for values in dated)
    years = abs(number(chains[0].end, one) - number(chains[1].end, two))
    events = [value.event.format(x=chain.phrase) for value, chain in zip((first, second), chains, strict=True)]
    if years == 0 or any(_is_known_before(world, chain, fact) for chain, fact in zip(chains, (one, two), strict=True)):
        return None
    return Asked(
        question=f"How many years passed between {events[0]} and {events[1]}?",
        answer=str(years),
        shape=f"between {chains[0].end.kind} {one} {chains[1].end.kind} {two}",
        reasoning=frozenset({"Numerical reasoning", "Temporal reasoning"}),
    )


def difference(world: World, random: Random, chains: Sequence[Chain]) -> Asked | None:
    """Ask by how much two numbers differ."""
    shared = _shared(world, random, chains)
    if len(chains) != 2 or shared is None or not shared[1].quantity or not _differ(chains, shared[0]):
        return None
    fact, value = shared
    one, two = (value.quantity.format(x=chain.phrase) for chain in chains)
    return Asked(
        question=f"What is the difference{_in(value)} between {one} and {two}?",
        answer=shown(abs(number(chains[0].end, fact) - number(chains[1].end, fact))),
        shape=f"difference {chains[0].end.kind} {fact}",
        reasoning=frozenset({"Numerical reasoning"}),
    )


def total(world: World, random: Random, chains: Sequence[Chain]) -> Asked | None:
    """Ask what several numbers add up to."""
    shared = _shared(world, random, chains)
    if len(chains) < 2 or shared is None or not shared[1].quantity:
        return None
    fact, value = shared
    *others, last = (value.quantity.format(x=chain.phrase) for chain in chains)
    return Asked(
        question=f"What is the sum{_in(value)} of {', '.join(others)} and {last}?",
        answer=shown(sum(number(chain.end, fact) for chain in chains)),
        shape=f"sum {chains[0].end.kind} {fact}",
        reasoning=frozenset({"Numerical reasoning"}),
    )


def _shared(world: World, random: Random, chains: Sequence[Chain]) -> tuple[str, Value] | None:
    """Draw what all of them can be compared by; None where they are of several kinds, or it takes less reading."""
    if len({chain.end.kind for chain in chains}) > 1:
        return None
    fact, value = random.choice(list(world.kind_of(chains[0].end).values.items()))
    return None if any(_is_known_before(world, chain, fact) for chain in chains) else (fact, value)


def _is_known_before(world: World, chain: Chain, fact: str) -> bool:
    """Whether this can be told without the article: by the question, by its title, or by the table that lists it."""
    (found,) = world.follow(chain.end, fact)
    in_table = chain.ends_in_table and fact in world.kind_of(chain.end).columns.values()
    return in_table or shown(found) in chain.phrase or shown(found) in chain.end.name


def _differ(chains: Sequence[Chain], fact: str) -> bool:
    return len({number(chain.end, fact) for chain in chains}) == len(chains)


def _in(value: Value) -> str:
    return f", in {value.unit}," if value.unit else ""
