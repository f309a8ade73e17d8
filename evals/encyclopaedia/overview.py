"""Writes the pages that lead to others: the main page, lists, decades and categories.

Invariant: every article is on a list and in a category.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from random import Random

from evals.encyclopaedia.article import (
    LANG,
    MAIN_PAGE,
    Article,
    category_title,
    list_title,
    read_text,
    region_of,
    write_page,
)
from evals.encyclopaedia.kinds import Kind
from evals.encyclopaedia.wording import cell, decade_title, link_to, paragraph, sentence
from evals.encyclopaedia.world import Entity, World, number, path_of
from evals.site.page import Block, Entry, Frame, Heading, Inline, Link, Listing, Paragraph, Table

ABOUT = "/wiki/About"
_FEATURED = 6


def frame(world: World) -> Frame:
    """Return what stands around every page."""
    kinds = world.country.kinds
    lists = [_list_link(world, kinds[name]) for name in ("region", "town", "river", "bridge", "expedition")]
    return Frame(
        name=f"Encyclopaedia of {world.country.name}",
        lang=LANG,
        navigation=(Link(text="Main page", path=MAIN_PAGE), *lists),
        account=(),
        footer=(Link(text="About", path=ABOUT),),
        not_found="There is no article with this name.",
        failed="This page could not be loaded. Please try again.",
    )


def overviews(seed: int, world: World) -> Iterator[Article]:
    """Write all pages that lead to others, the main page first."""
    yield _main_page(seed, world)
    about = Paragraph(parts=(world.country.about,))
    yield Article(page=write_page(ABOUT, "About", (about,)), text="")
    for name, kind in world.country.kinds.items():
        yield _list(world, name, kind)
    yield from _decades(world)
    yield from _categories(world)


def _list_link(world: World, kind: Kind) -> Link:
    title = list_title(world, kind)
    return Link(text=title.removesuffix(f" in {world.country.name}"), path=path_of(title))


def _main_page(seed: int, world: World) -> Article:
    country = world.country
    everything = [entity for members in world.entities.values() for entity in members]
    featured = Random(f"{seed}:featured").sample(everything, _FEATURED)  # noqa: S311 (content, no secret)
    blocks: tuple[Block, ...] = (
        Paragraph(parts=(country.welcome,)),
        Heading(text="From our articles"),
        Listing(entries=tuple(_featured(world, entity) for entity in featured)),
        Heading(text="Regions"),
        Paragraph(parts=_separated([link_to(region) for region in world.entities["region"]])),
        Heading(text="Towns"),
        Paragraph(parts=_separated([link_to(town) for town in world.entities["town"]])),
        Heading(text="Lists"),
        Listing(entries=tuple(Entry(title=_list_link(world, kind)) for kind in country.kinds.values())),
    )
    return Article(page=write_page(MAIN_PAGE, f"Encyclopaedia of {country.name}", blocks), text="")


def _featured(world: World, entity: Entity) -> Entry:
    lead = Paragraph(parts=sentence(world, entity, world.kind_of(entity).sections[0].text[0]))
    return Entry(title=link_to(entity), summary=read_text((lead,)))


def _separated(links: list[Link]) -> tuple[Inline, ...]:
    parts: list[Inline] = []
    for link in links:
        parts += [" · ", link] if parts else [link]
    return tuple(parts)


def _list(world: World, name: str, kind: Kind) -> Article:
    rows = tuple(
        (link_to(entity), *(cell(world.follow(entity, expression)) for expression in kind.columns.values()))
        for entity in sorted(world.entities[name], key=lambda each: each.name)
    )
    title = list_title(world, kind)
    intro = f"This is a list of all {len(rows)} {kind.plural} in {world.country.name}, by name."
    blocks: tuple[Block, ...] = (Paragraph(parts=(intro,)), Table(columns=("Name", *kind.columns), rows=rows))
    return Article(page=write_page(path_of(title), title, blocks), text=read_text(blocks))


def _decades(world: World) -> Iterator[Article]:
    told: dict[str, list[tuple[int, tuple[Inline, ...]]]] = defaultdict(list)
    for members in world.entities.values():
        for entity in members:
            for event in world.kind_of(entity).events:
                year = number(entity, event.fact)
                parts = (f"{year}: ", *_linked(entity, sentence(world, entity, event.text)))
                told[decade_title(world, year)].append((year, parts))
    for title, entries in sorted(told.items()):
        in_order = sorted(entries, key=lambda entry: entry[0])
        blocks = tuple(Paragraph(parts=paragraph([parts])) for _, parts in in_order)
        yield Article(page=write_page(path_of(title), title, blocks), text=read_text(blocks))


def _linked(entity: Entity, parts: tuple[Inline, ...]) -> Iterator[Inline]:
    """Link the entity's own name, which no article does in itself."""
    for part in parts:
        yield link_to(entity) if part == entity.name else part


def _categories(world: World) -> Iterator[Article]:
    members: dict[str, list[Entity]] = defaultdict(list)
    for family in world.entities.values():
        for entity in sorted(family, key=lambda each: each.name):
            members[category_title(world, world.kind_of(entity), region_of(world, entity))].append(entity)
    for title, entities in sorted(members.items()):
        listing = Listing(entries=tuple(Entry(title=link_to(entity)) for entity in entities))
        yield Article(page=write_page(path_of(title), title, (listing,)), text="")
