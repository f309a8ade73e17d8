"""Builds the demo site: an institute that does not exist, in two languages, from one seed.

Invariant: equal seeds give equal sites, and nothing but the seed decides what a page says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

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
    block_links,
)
from evals.site.question import Question
from evals.site.traps import TrapLinks, trap_links
from evals.site.tree import Node, Tree, grow
from evals.site.words import Structure, Style, Words, load_structure, load_words

NAME = "merrowdale"
_SEE_ALSO = 3
_INLINE_LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The whole site.

    Attributes:
        seed: What it was built from.
        pages: All pages by path, the language's root first.
        frames: What stands around the pages, by language.
        questions: Questions with known answers, the English ones first.
    """

    seed: int
    pages: Mapping[str, Page]
    frames: Mapping[str, Frame]
    questions: tuple[Question, ...]

    def links(self, path: str) -> tuple[Link, ...]:
        """Return every link a person sees on a page, in document order.

        Raises:
            KeyError: There is no such page.
        """
        page = self.pages[path]
        frame = self.frames[page.lang]
        blocks = (link for block in page.blocks for link in block_links(block))
        every = (*frame.account, *frame.navigation, *page.breadcrumbs, *blocks, *frame.footer)
        return tuple(link for link in every if not link.hidden)


def build_site(seed: int = 7) -> Site:
    """Build the site that belongs to a seed."""
    structure = load_structure()
    halves = [_Half(seed, structure, load_words(lang)) for lang in structure.languages]
    return Site(
        seed=seed,
        pages={page.path: page for half in halves for page in half.pages()},
        frames={half.lang: half.frame() for half in halves},
        questions=tuple(question for half in halves for question in half.questions()),
    )


class _Half:
    """Lays out the pages of one language."""

    def __init__(self, seed: int, structure: Structure, words: Words) -> None:
        self.lang = words.lang
        self._words = words
        self._structure = structure
        self._tree: Tree = grow(seed, structure, words)
        others = [lang for lang in structure.languages if lang != words.lang]
        self._traps: TrapLinks = trap_links(words.account, other_lang=others[0])

    def frame(self) -> Frame:
        phrases = self._words.phrases
        return Frame(
            name=phrases["name"],
            lang=self.lang,
            navigation=(self._home(), *(self._link(path) for path in self._structure.navigation)),
            account=self._traps.header,
            footer=(*(self._link(path) for path in self._structure.footer), *self._traps.footer),
            not_found=phrases["not_found"],
            failed=phrases["failed"],
        )

    def pages(self) -> Iterator[Page]:
        yield Page(path=self._url(""), lang=self.lang, title=self._words.phrases["name"], blocks=(*self._front(),))
        for node in self._tree.nodes.values():
            yield Page(
                path=self._url(node.path),
                lang=self.lang,
                title=node.title,
                breadcrumbs=(self._home(), *(self._link(path) for path in self._chain(node)[:-1])),
                blocks=(*self._blocks(node),),
            )

    def questions(self) -> Iterator[Question]:
        on_root = {link.path for block in self._front() for link in block_links(block)}
        on_root |= {self._url(path) for path in (*self._structure.navigation, *self._structure.footer)}
        for node in self._tree.nodes.values():
            chain = [self._url(path) for path in self._chain(node)]
            entered = max(place for place, path in enumerate(chain) if path in on_root)
            for number, ask in enumerate(node.asks, 1):
                yield Question(
                    id=f"{NAME}-{self.lang}-{node.path.rpartition('/')[2]}-{number}",
                    site=NAME,
                    question=ask.ask,
                    answer=ask.answer,
                    answer_tokens=(ask.answer,),
                    root_path=self._url(""),
                    golden_path=tuple(chain[entered:]),
                    hops=len(chain) - entered,
                    lang=self.lang,
                )

    def _url(self, path: str) -> str:
        return f"/{self.lang}/{path}" if path else f"/{self.lang}"

    def _home(self) -> Link:
        return Link(text=self._words.phrases["home"], path=self._url(""))

    def _link(self, path: str) -> Link:
        return Link(text=self._tree.nodes[path].title, path=self._url(path))

    def _chain(self, node: Node) -> list[str]:
        above = self._chain(self._tree.nodes[node.parent]) if node.parent else []
        return [*above, node.path]

    def _front(self) -> Iterator[Block]:
        yield from (self._paragraph(text) for text in self._words.intro)
        for section in self._words.sections:
            yield Heading(text=section.heading)
            yield self._listing(self._below(section.source)[: section.count], section.style)
        yield from (self._paragraph(text) for text in self._words.closing)

    def _below(self, slug: str) -> tuple[Node, ...]:
        kind = self._structure.kinds.get(slug)
        return self._tree.children(f"{kind.parent}/{slug}" if kind and kind.parent else slug)

    def _blocks(self, node: Node) -> Iterator[Block]:
        yield from (self._paragraph(text) for text in node.paragraphs)
        if node.terms:
            yield Heading(text=self._words.phrases["at_a_glance"])
            yield Definitions(
                entries=tuple(Definition(term=term, value=self._named(value)) for term, value in node.terms.items())
            )
        if node.table:
            yield Heading(text=node.table)
            yield Table(columns=node.columns, rows=tuple(tuple(self._named(cell) for cell in row) for row in node.rows))
        children = self._tree.children(node.path)
        if children:
            yield self._listing(children, node.style)
        elif others := self._siblings(node):
            yield Heading(text=self._words.phrases["see_also"])
            yield self._listing(others, "titles")

    def _siblings(self, node: Node) -> tuple[Node, ...]:
        family = self._tree.children(node.parent)
        place = family.index(node)
        return (*family[place + 1 :], *family[:place])[:_SEE_ALSO]

    def _named(self, text: str) -> Inline:
        """Link a person's name to the person's page."""
        path = self._tree.people.get(text)
        return text if path is None else Link(text=text, path=self._url(path))

    def _listing(self, nodes: tuple[Node, ...], style: Style) -> Listing:
        return Listing(entries=tuple(self._entry(node, style) for node in nodes))

    def _entry(self, node: Node, style: Style) -> Entry:
        link = self._link(node.path)
        if style == "cards":
            more = Link(text=self._words.phrases["read_more"], path=link.path)
            return Entry(title=node.title, summary=node.summary, more=more)
        return Entry(title=link, summary=node.summary if style == "both" else "")

    def _paragraph(self, text: str) -> Paragraph:
        parts: list[Inline] = []
        end = 0
        for match in _INLINE_LINK.finditer(text):
            parts += [text[end : match.start()], Link(text=match[1], path=self._url(match[2]))]
            end = match.end()
        return Paragraph(parts=tuple(part for part in (*parts, text[end:]) if part))
