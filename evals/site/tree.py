"""Grows the tree of one language's pages: which there are, what they state, and what may be asked about them.

Invariant: a node holds finished texts only; every template is filled here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

from evals.site.facts import TABLE_ROWS, Draws
from evals.site.words import Ask, KindText, PageText, Structure, Style, Words

_FILLERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One page before it is laid out.

    Attributes:
        path: Its path below the root, with its hash route; equal in all languages.
        title: Its title.
        summary: What is said of it where it is listed.
        paragraphs: Its text; may hold links as `[text](path below the root)`.
        terms: Its definition list.
        table: Title of its table; empty where it has none.
        columns: The table's columns.
        rows: The table's rows.
        asks: Questions about it, their answers with them.
        style: How it lists the pages below it.
    """

    path: str
    title: str
    summary: str
    paragraphs: tuple[str, ...]
    terms: Mapping[str, str]
    table: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    asks: tuple[Ask, ...] = ()
    style: Style = "both"

    @property
    def parent(self) -> str:
        """Path of the page above it; empty for the root."""
        above = self.path.rpartition("/")[0]
        return above.removesuffix("#/chapter")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a page of some kind is about."""

    path: str
    name: str
    about: str
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """All nodes of one language, by path, parents first; and the paths of the people's pages by name."""

    nodes: Mapping[str, Node]
    people: Mapping[str, str]

    def children(self, path: str) -> tuple[Node, ...]:
        """Return the pages right below one."""
        return tuple(node for node in self.nodes.values() if node.parent == path)


def grow(seed: int, structure: Structure, words: Words) -> Tree:
    """Grow the tree of one language."""
    return _Grower(seed, structure, words).grow()


class _Grower:
    def __init__(self, seed: int, structure: Structure, words: Words) -> None:
        self._seed = seed
        self._structure = structure
        self._words = words
        self._subjects = {slug: self._topics(slug) for slug in structure.kinds if slug != "people"}
        self._subjects["people"] = self._people()
        self._draws = Draws(seed=seed, words=words, people=[person.name for person in self._subjects["people"]])

    def grow(self) -> Tree:
        nodes = {node.path: node for node in (*self._written(), *self._kinds())}
        in_order = {path: nodes[path] for path in sorted(nodes, key=lambda path: path.count("/"))}
        return Tree(nodes=in_order, people={person.name: person.path for person in self._subjects["people"]})

    def _random(self, purpose: str) -> Random:
        return Random(f"{self._seed}:{purpose}")  # noqa: S311 (content, no secret)

    def _index_path(self, slug: str) -> str:
        parent = self._structure.kinds[slug].parent
        return f"{parent}/{slug}" if parent else slug

    def _topics(self, slug: str) -> tuple[Subject, ...]:
        topics = self._words.kinds[slug].topics
        chosen = self._random(slug).sample(list(topics), self._structure.kinds[slug].count)
        above = self._index_path(slug)
        return tuple(
            Subject(path=f"{above}/{topic}", name=topics[topic].name, about=topics[topic].about) for topic in chosen
        )

    def _people(self) -> tuple[Subject, ...]:
        lists, phrases, random = self._words.lists, self._words.phrases, self._random("people")
        units = self._subjects["team"]
        count = len(units) * self._structure.people_per_unit
        families = random.sample(range(len(lists["family"])), count)
        people = []
        for place, family in enumerate(families):
            given, unit = random.randrange(len(lists["given"])), units[place // self._structure.people_per_unit]
            name = phrases["person"].format(given=lists["given"][given], family=lists["family"][family])
            about = lists["specialisms"][place % len(lists["specialisms"])]
            # A slug must be the same in all languages, which the name is not.
            people.append(Subject(path=f"{unit.path}/staff-{101 + family}", name=name, about=about, unit=unit.name))
        return tuple(people)

    def _written(self) -> Iterator[Node]:
        for path, specs in self._structure.pages.items():
            text, facts = self._words.pages[path], self._draws.facts(path, specs)
            yield Node(
                path=path,
                title=text.title,
                summary=text.summary,
                paragraphs=(*_fill_all(text.paragraphs, facts), *self._fillers(path)),
                terms={},
                asks=_fill_asks(text.asks, facts),
            )

    def _kinds(self) -> Iterator[Node]:
        for slug, kind in self._words.kinds.items():
            if kind.intro:
                yield Node(
                    path=self._index_path(slug),
                    title=kind.page.title,
                    summary=kind.page.summary,
                    paragraphs=kind.intro,
                    terms={},
                    style=kind.style,
                )
            subjects = self._subjects[slug]
            count = min(self._structure.kinds[slug].questions, len(subjects))
            asked = self._random(f"asked:{slug}").sample(range(len(subjects)), count)
            for place, subject in enumerate(subjects):
                ask = asked.index(place) % len(kind.page.asks) if place in asked else None
                yield self._subject_node(slug, kind, subject, ask)

    def _subject_node(self, slug: str, kind: KindText, subject: Subject, ask: int | None) -> Node:
        spec = self._structure.kinds[slug]
        facts = self._draws.facts(subject.path, spec.facts)
        facts |= {"name": subject.name, "about": subject.about, "unit": subject.unit}
        rows = self._draws.rows(subject.path, spec.table)
        terms = {label: facts[name] for name, label in kind.labels.items()}
        if rows:
            row = rows[self._random(f"row:{subject.path}").randrange(TABLE_ROWS)]
            facts |= {f"row_{column}": cell for column, cell in zip(spec.table, row, strict=True)}
        return Node(
            path=subject.path,
            title=subject.name,
            summary=kind.entry.format_map(facts),
            paragraphs=(*_fill_all(kind.page.paragraphs, facts), *self._fillers(subject.path)),
            terms=terms,
            table=kind.table,
            columns=kind.columns,
            rows=rows,
            asks=_fill_asks(_chosen(kind.page, ask), facts),
        )

    def _fillers(self, path: str) -> list[str]:
        return self._random(f"fillers:{path}").sample(self._words.lists["general"], _FILLERS)


def _chosen(text: PageText, ask: int | None) -> tuple[Ask, ...]:
    return () if ask is None else (text.asks[ask],)


def _fill_all(templates: tuple[str, ...], facts: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(template.format_map(facts) for template in templates)


def _fill_asks(asks: tuple[Ask, ...], facts: Mapping[str, str]) -> tuple[Ask, ...]:
    return tuple(Ask(ask=ask.ask.format_map(facts), answer=ask.answer.format_map(facts)) for ask in asks)
