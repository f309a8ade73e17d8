"""Which questions of a suite are asked: filters, then a sample.

Invariant: the same questions, filters and seed give the same choice, in the suite's order; a larger limit only adds to
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from itertools import islice, zip_longest
from random import Random

from evals.suites.errors import SelectionInvalid
from evals.suites.item import Item

_MAX_NAMED = 12


def select(
    items: Sequence[Item],
    *,
    langs: Iterable[str] = (),
    kinds: Iterable[str] = (),
    difficulties: Iterable[str] = (),
    domains: Iterable[str] = (),
    ids: Iterable[str] = (),
    min_sources: int = 0,
    one_per_site: bool = False,
    limit: int | None = None,
    seed: int = 0,
) -> tuple[Item, ...]:
    """Choose questions; without a filter, all.

    Args:
        items: The suite's questions.
        langs: Only questions in one of these languages; upper and lower case are alike in all filters.
        kinds: Only those of one of these kinds.
        difficulties: Only those of one of these difficulties.
        domains: Only those of one of these domains; a question may have several, with ` | ` between them.
        ids: Only those with one of these ids.
        min_sources: Only those whose answer stands on at least so many pages.
        one_per_site: Draw one question for each place to start, as the published code does (arXiv 2510.16276).
        limit: At most so many, drawn as evenly as there are questions from the cells of kind by difficulty.
        seed: What is drawn from.

    Raises:
        SelectionInvalid: A value does not occur, nothing is left, or the limit is below 1.
    """
    if limit is not None and limit < 1:
        raise SelectionInvalid(f"a limit of {limit} leaves no question", hint="Give a limit of 1 or more.")
    chosen = tuple(items)
    for name, wanted, values_of in (
        ("language", langs, lambda item: (item.lang,)),
        ("kind", kinds, lambda item: (item.kind,)),
        ("difficulty", difficulties, lambda item: (item.difficulty,)),
        ("domain", domains, lambda item: item.domain.split(" | ")),
        ("id", ids, lambda item: (item.id,)),
    ):
        chosen = _having(chosen, items, name, tuple(wanted), values_of)
    chosen = _standing_on(chosen, min_sources)
    if one_per_site:
        chosen = _one_per_site(chosen, seed)
    return chosen if limit is None else _sample(chosen, limit, seed)


def _having(
    chosen: Sequence[Item],
    items: Sequence[Item],
    name: str,
    wanted: Sequence[str],
    values_of: Callable[[Item], Sequence[str]],
) -> tuple[Item, ...]:
    if not wanted:
        return tuple(chosen)
    there = {value.casefold(): value for item in items for value in values_of(item) if value}
    for value in wanted:
        if value.casefold() not in there:
            raise _absent(name, value, sorted(there.values()))
    keys = {value.casefold() for value in wanted}
    left = tuple(item for item in chosen if any(value.casefold() in keys for value in values_of(item)))
    if not left:
        raise SelectionInvalid(
            f"no question is left with the {name} {' or '.join(wanted)}: those that have it were filtered out before",
            hint="Take a filter away.",
        )
    return left


def _absent(name: str, value: str, there: Sequence[str]) -> SelectionInvalid:
    if not there:
        return SelectionInvalid(f"no question has the {name} {value!r}: this suite tells none", hint="Leave it out.")
    near = get_close_matches(value, there, n=_MAX_NAMED) or there[:_MAX_NAMED]
    named = ", ".join(there if len(there) <= _MAX_NAMED else near)
    more = len(there) - _MAX_NAMED
    return SelectionInvalid(
        f"no question has the {name} {value!r}", hint=f"Use one of {named}{' or of many others' if more > 0 else ''}."
    )


def _standing_on(chosen: Sequence[Item], min_sources: int) -> tuple[Item, ...]:
    left = tuple(item for item in chosen if len(item.sources) >= min_sources)
    if chosen and not left:
        most = max(len(item.sources) for item in chosen)
        raise SelectionInvalid(f"no question has {min_sources} sources or more", hint=f"The most there are is {most}.")
    return left


def _one_per_site(chosen: Sequence[Item], seed: int) -> tuple[Item, ...]:
    by_root: dict[str, list[Item]] = {}
    for item in chosen:
        by_root.setdefault(f"{item.site} {item.url}", []).append(item)
    if " " in by_root:
        raise SelectionInvalid("questions that begin with a search have no site", hint="Do not ask for one a site.")
    drawn = {_random(seed, root).choice(there).id for root, there in by_root.items()}
    return tuple(item for item in chosen if item.id in drawn)


def _sample(chosen: Sequence[Item], limit: int, seed: int) -> tuple[Item, ...]:
    cells: dict[tuple[str, str], list[Item]] = {}
    for item in chosen:
        cells.setdefault((item.kind, item.difficulty), []).append(item)
    shuffled = [_random(seed, *cell).sample(cells[cell], len(cells[cell])) for cell in sorted(cells)]
    # Which cells give one more than the others must not follow from their names.
    _random(seed, "cells").shuffle(shuffled)
    in_turn = (item.id for turn in zip_longest(*shuffled) for item in turn if item is not None)
    drawn = set(islice(in_turn, limit))
    return tuple(item for item in chosen if item.id in drawn)


def _random(seed: int, *purpose: str) -> Random:
    return Random(f"{seed}:{':'.join(purpose)}")  # noqa: S311 (a sample, no secret)
