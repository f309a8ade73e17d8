"""Lays out the pages of one site: its root, its frame, and a page for each node.

Invariant: the root page links to exactly as many different pages of the site as it is asked to, where the site has
that many to show there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from random import Random
from zlib import crc32

from evals.site.page import (
    Block,
    Definition,
    Definitions,
    Entry,
    Frame,
    Heading,
    Inline,
    Link,
    Listing,
    Page,
    Paragraph,
    Table,
)
from evals.site.traps import trap_links
from evals.walks.texts import Texts
from evals.walks.tree import Node, Tree

_MENU_FROM = 70
"""Roots with at least this many links have menus that open: the pages below their first sections stand in them too."""
_MENU_SECTIONS = 4
_FOOTER_SHARE, _FOOTER_LEAST, _FOOTER_MOST = 12, 2, 8
_SEE_ALSO = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """Which pages the root page links to, and where.

    Attributes:
        menu: Those at the top of every page.
        footer: Those at the bottom of every page.
        features: Those the root page shows, kind by kind.
    """

    menu: tuple[Node, ...]
    footer: tuple[Node, ...]
    features: tuple[tuple[Node, ...], ...]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All of them."""
        return (*self.menu, *self.footer, *chain.from_iterable(self.features))


def plan_front(tree: Tree, texts: Texts, *, size: int, random: Random) -> Front:
    """Choose what the root page links to: the menu and the footer, then the features by turns until it is enough."""
    menu = tuple(_menu(tree, size))
    in_menu = {node.path for node in menu}
    rest = [node for kind in texts.footer for node in tree.by_kind[kind] if node.path not in in_menu]
    footer = tuple(rest[: max(_FOOTER_LEAST, min(size // _FOOTER_SHARE, _FOOTER_MOST))])
    taken = in_menu | {node.path for node in footer}
    offers = [_offer(tree, texts, kind, taken, random) for kind in texts.features]
    by_turns = [node for turn in zip_longest(*offers) for node in turn if node is not None]
    shown = {node.path for node in by_turns[: max(0, size - len(taken))]}
    features = (tuple(node for node in offer if node.path in shown) for offer in offers)
    return Front(menu=menu, footer=footer, features=tuple(feature for feature in features if feature))


def _menu(tree: Tree, size: int) -> Iterator[Node]:
    for number, section in enumerate(tree.sections):
        yield section
        if size >= _MENU_FROM and number < _MENU_SECTIONS:
            yield from tree.below.get(section.path, ())


def _offer(tree: Tree, texts: Texts, kind: str, taken: set[str], random: Random) -> list[Node]:
    nodes = [node for node in tree.by_kind[kind] if node.path not in taken]
    random.shuffle(nodes)
    return nodes[: texts.kinds[kind].limit]


class Layout:
    """Lays out the pages of a site."""

    def __init__(self, name: str, tree: Tree, front: Front, texts: Texts, random: Random) -> None:
        self._name = name
        self._tree = tree
        self._front = front
        self._texts = texts
        self._random = random
        self._places = {node.path: place for family in tree.below.values() for place, node in enumerate(family)}
        self._home = Link(text=texts.phrases["home"], path=f"/{texts.lang}")

    def frame(self) -> Frame:
        """Return what stands around every page."""
        traps = trap_links(self._texts.account, other_lang="zh" if self._texts.lang == "en" else "en")
        return Frame(
            name=self._name,
            lang=self._texts.lang,
            navigation=(self._home, *map(_link, self._front.menu)),
            account=traps.header,
            footer=(*map(_link, self._front.footer), *traps.footer),
            not_found=self._texts.phrases["not_found"],
            failed=self._texts.phrases["failed"],
        )

    def pages(self) -> Iterator[Page]:
        """Yield every page, the root first."""
        lang = self._texts.lang
        yield Page(path=self._home.path, lang=lang, title=self._name, blocks=(*self._front_blocks(),))
        for node in self._tree.nodes:
            trail = (self._home, *map(_link, node.chain[:-1]))
            yield Page(path=node.path, lang=lang, title=node.title, breadcrumbs=trail, blocks=(*self._blocks(node),))

    def _front_blocks(self) -> Iterator[Block]:
        yield from (Paragraph(parts=(text.format(site=self._name),)) for text in self._texts.intro)
        for nodes in self._front.features:
            yield Heading(text=self._texts.texts[nodes[0].kind].heading)
            yield self._list(nodes)

    def _blocks(self, node: Node) -> Iterator[Block]:
        text = self._texts.texts[node.kind]
        words = node.words()
        yield from (_paragraph(paragraph, node, words) for paragraph in text.paragraphs)
        yield Paragraph(parts=(self._texts.phrases["space"].join(self._random.sample(self._texts.general, 2)),))
        if text.labels:
            yield Heading(text=self._texts.phrases["at_a_glance"])
            terms = (Definition(term=label, value=words[fact]) for fact, label in text.labels.items())
            yield Definitions(entries=tuple(terms))
        if below := self._tree.below.get(node.path):
            yield Heading(text=self._texts.texts[below[0].kind].heading)
            yield self._list(below)
        elif others := self._siblings(node):
            yield Heading(text=self._texts.phrases["see_also"])
            yield Listing(entries=tuple(Entry(title=_link(other)) for other in others))

    def _siblings(self, node: Node) -> Sequence[Node]:
        """Return the next pages of its family, the first ones after the last."""
        if node.parent is None:
            return ()
        family = self._tree.below[node.parent.path]
        place = self._places[node.path]
        return [family[(place + step) % len(family)] for step in range(1, min(_SEE_ALSO + 1, len(family)))]

    def _list(self, nodes: Sequence[Node]) -> Block:
        spec, text = self._texts.kinds[nodes[0].kind], self._texts.texts[nodes[0].kind]
        if spec.style == "table":
            return Table(columns=text.headers, rows=tuple(_row(node, spec.columns) for node in nodes))
        return Listing(entries=tuple(self._entry(node) for node in nodes))

    def _entry(self, node: Node) -> Entry:
        summary = self._summary(node)
        match self._texts.kinds[node.kind].style:
            case "cards":
                more = Link(text=self._texts.phrases["read_more"], path=node.path)
                return Entry(title=node.title, summary=summary, more=more)
            case "teasers":
                text = self._texts.phrases["teaser"].format(title=node.title, summary=summary)
                return Entry(title=Link(text=text, path=node.path))
            case "both":
                return Entry(title=_link(node), summary=summary)
        return Entry(title=_link(node))

    def _summary(self, node: Node) -> str:
        """Say the same of a page wherever it is listed, whatever was said of the one before."""
        choices = self._texts.texts[node.kind].summaries
        return choices[crc32(node.path.encode()) % len(choices)].format_map(node.words())


def _link(node: Node) -> Link:
    return Link(text=node.title, path=node.path)


def _row(node: Node, columns: Sequence[str]) -> tuple[Inline, ...]:
    return (_link(node), *(node.facts[fact].text for fact in columns))


def _paragraph(template: str, node: Node, words: dict[str, str]) -> Paragraph:
    """Fill a template; the page that it tells about is linked where it is named first."""
    before, named, after = template.partition("{ref}")
    parts: list[Inline] = [before.format_map(words)]
    if named and node.ref:
        parts += [_link(node.ref), after.format_map(words)]
    return Paragraph(parts=tuple(part for part in parts if part))
