"""Fills templates with what is true of an entity, names of articles as links.

Invariant: a sentence that names what there is not is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from evals.encyclopaedia.world import Entity, Fact, World, Year, path_of, shown
from evals.site.page import Inline, Link

_PLACEHOLDER = re.compile(r"\{([@-]?)([^}]+)\}")


def decade_title(world: World, year: int) -> str:
    """Return the title of the article on a year's decade."""
    return f"{year // 10 * 10}s in {world.country.name}"


def link_to(entity: Entity) -> Link:
    """Link an article by its title."""
    return Link(text=entity.name, path=entity.path)


def cell(facts: Sequence[Fact]) -> Inline:
    """Return what an expression found as one cell: a link where it is an article."""
    match facts:
        case [Entity() as entity]:
            return link_to(entity)
    return ", ".join(shown(fact) for fact in facts)


def sentence(world: World, entity: Entity, template: str) -> tuple[Inline, ...]:
    """Fill one template; empty where it names what there is not."""
    parts: list[Inline] = []
    end = 0
    for match in _PLACEHOLDER.finditer(template):
        found = world.follow(entity, match[2])
        if not found:
            return ()
        parts += [template[end : match.start()], *_enumerate(_inlines(world, found, match[1]))]
        end = match.end()
    return (*parts, template[end:])


def paragraph(sentences: Iterable[tuple[Inline, ...]]) -> tuple[Inline, ...]:
    """Join sentences, and texts that stand side by side."""
    joined: list[Inline] = []
    for parts in filter(None, sentences):
        for part in (" ", *parts) if joined else parts:
            if isinstance(part, str) and joined and isinstance(joined[-1], str):
                joined[-1] += part
            elif part:
                joined.append(part)
    return tuple(joined)


def _inlines(world: World, found: Sequence[Fact], mark: str) -> list[Inline]:
    return [_inline(world, fact, mark) for fact in found]


def _inline(world: World, fact: Fact, mark: str) -> Inline:
    if isinstance(fact, Entity) and mark != "-":
        return link_to(fact)
    if isinstance(fact, Year) and mark == "@":
        return Link(text=shown(fact), path=path_of(decade_title(world, fact)))
    return shown(fact)


def _enumerate(parts: Sequence[Inline]) -> Iterable[Inline]:
    for place, part in enumerate(parts):
        if place:
            yield " and " if place == len(parts) - 1 else ", "
        yield part
