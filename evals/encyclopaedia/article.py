"""Writes the article on one entity.

Invariant: what searching reads of an article is what is said in it, not the boxes and lists that stand below every
article of its kind; else all bridges would be found by the name of any.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from evals.encyclopaedia.kinds import Kind
from evals.encyclopaedia.wording import cell, link_to, paragraph, sentence
from evals.encyclopaedia.world import Entity, World, path_of
from evals.site.page import (
    Block,
    Definition,
    Definitions,
    Entry,
    Heading,
    Inline,
    Link,
    Listing,
    Page,
    Paragraph,
    block_text,
)

LANG = "en"
MAIN_PAGE = "/wiki/Main_Page"
_BOX = 60
_SEE_ALSO = 5
_FILLER_SECTIONS = 2
_FILLERS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """One page of the encyclopaedia, and what searching reads of it.

    Attributes:
        page: What is shown.
        text: What searching reads; empty: it is not found by searching.
    """

    page: Page
    text: str


def write_page(path: str, title: str, blocks: Sequence[Block]) -> Page:
    """Put blocks on a page of the encyclopaedia."""
    trail = () if path == MAIN_PAGE else (Link(text="Main page", path=MAIN_PAGE),)
    return Page(path=path, lang=LANG, title=title, breadcrumbs=trail, blocks=tuple(blocks))


def read_text(blocks: Sequence[Block]) -> str:
    """Return what a person reads in some blocks."""
    return "\n".join(filter(None, map(block_text, blocks)))


def list_title(world: World, kind: Kind) -> str:
    """Return the title of the list of all articles of a kind."""
    return f"List of {kind.plural} in {world.country.name}"


def category_title(world: World, kind: Kind, region: str) -> str:
    """Return the title of a category: of a kind in a region, or of the whole kind where it has none."""
    return f"Category:{kind.plural.capitalize()} in {region or world.country.name}"


def region_of(world: World, entity: Entity) -> str:
    """Return the name of the region it belongs to; empty: it has none."""
    region = world.only(entity, world.kind_of(entity).region)
    return region.name if region else ""


def articles(seed: int, world: World) -> Iterator[Article]:
    """Write all articles on what there is."""
    for members in world.entities.values():
        for entity in members:
            said = (*_said(seed, world, entity),)
            yield Article(
                page=write_page(entity.path, entity.name, (*said, *_around(seed, world, entity))), text=read_text(said)
            )


def _random(seed: int, purpose: str, entity: Entity) -> Random:
    return Random(f"{seed}:{purpose}:{entity.name}")  # noqa: S311 (content, no secret)


def _said(seed: int, world: World, entity: Entity) -> Iterator[Block]:
    kind = world.kind_of(entity)
    found = {label: world.follow(entity, expression) for label, expression in kind.infobox.items()}
    yield Definitions(
        entries=tuple(Definition(term=label, value=cell(facts)) for label, facts in found.items() if facts)
    )
    for section in kind.sections:
        parts = paragraph(sentence(world, entity, template) for template in section.text)
        if section.heading:
            yield Heading(text=section.heading)
        yield Paragraph(parts=parts)
    random = _random(seed, "fillers", entity)
    general = random.sample(world.country.lists["general"], _FILLER_SECTIONS * _FILLERS)
    for place, heading in enumerate(random.sample(world.country.lists["headings"], _FILLER_SECTIONS)):
        yield Heading(text=heading)
        yield Paragraph(parts=(" ".join(general[place::_FILLER_SECTIONS]),))


def _around(seed: int, world: World, entity: Entity) -> Iterator[Block]:
    kind = world.kind_of(entity)
    family = [each for each in world.entities[entity.kind] if each is not entity]
    others = _random(seed, "see also", entity).sample(family, min(_SEE_ALSO, len(family)))
    lists = Link(text=list_title(world, kind), path=path_of(list_title(world, kind)))
    yield Heading(text="See also")
    yield Listing(entries=tuple(Entry(title=link) for link in (lists, *map(link_to, others))))
    yield from _box(f"{kind.plural.capitalize()} in {world.country.name}", _neighbours(entity, family))
    if place := world.only(entity, kind.place):
        yield from _box(place.name, [each for each in _in_place(world, place) if each is not entity])
    category = category_title(world, kind, region_of(world, entity))
    yield Paragraph(parts=("Categories: ", Link(text=category.removeprefix("Category:"), path=path_of(category))))


def _neighbours(entity: Entity, family: Sequence[Entity]) -> list[Entity]:
    """Return those of its kind that stand next to it in the alphabet, as boxes below articles show a part of a list."""
    in_order = sorted((*family, entity), key=lambda each: each.name)
    start = max(0, min(in_order.index(entity) - _BOX // 2, len(in_order) - _BOX))
    return [each for each in in_order[start : start + _BOX] if each is not entity]


def _in_place(world: World, place: Entity) -> list[Entity]:
    steps = [f"{name}<{kind.place}" for name, kind in world.country.kinds.items() if kind.place]
    there = (each for step in steps for each in world.follow(place, step) if isinstance(each, Entity))
    return sorted(there, key=lambda each: each.name)


def _box(title: str, entities: Sequence[Entity]) -> Iterator[Block]:
    if entities:
        parts: list[Inline] = []
        for entity in entities:
            parts += [" · ", link_to(entity)] if parts else [link_to(entity)]
        yield Heading(text=title)
        yield Paragraph(parts=tuple(parts))
