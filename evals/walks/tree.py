"""Grows the tree of one site's pages: which there are, how they hang together, and what each states.

Invariant: equal seeds give equal trees, and no two pages of a site have the same title.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from random import Random

from evals.walks.facts import Fact, draw_facts
from evals.walks.texts import KindSpec, KindText, Texts, Topic

_FIRST_NUMBER = 1000
_TRIES = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One page before it is laid out.

    Attributes:
        kind: Its kind.
        path: Its address on the site.
        topic: What it is about.
        parent: The page above; None where that is the root.
        ref: The page it tells about, beside the one above; None: none.
        facts: What it states.
    """

    kind: str
    path: str
    topic: Topic
    parent: Node | None = None
    ref: Node | None = None
    facts: Mapping[str, Fact] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Its title."""
        return self.topic.name

    @property
    def chain(self) -> tuple[Node, ...]:
        """The pages from the section it is in down to itself."""
        return (*self.parent.chain, self) if self.parent else (self,)

    def words(self) -> dict[str, str]:
        """Return what its templates are filled with."""
        parent = self.parent
        return {name: fact.text for name, fact in self.facts.items()} | {
            "name": self.title,
            "about": self.topic.about,
            "parent": parent.title if parent else "",
            "above": parent.parent.title if parent and parent.parent else "",
            "ref": self.ref.title if self.ref else "",
        }


@dataclass(frozen=True, kw_only=True)
class Tree:
    """All pages of one site but the root, parents first."""

    nodes: tuple[Node, ...]

    @cached_property
    def by_kind(self) -> Mapping[str, tuple[Node, ...]]:
        """The pages of each kind."""
        kinds: dict[str, list[Node]] = {}
        for node in self.nodes:
            kinds.setdefault(node.kind, []).append(node)
        return {kind: tuple(nodes) for kind, nodes in kinds.items()}

    @cached_property
    def below(self) -> Mapping[str, tuple[Node, ...]]:
        """The pages right below each, by its address; those without are left out."""
        families: dict[str, list[Node]] = {}
        for node in self.nodes:
            if node.parent:
                families.setdefault(node.parent.path, []).append(node)
        return {path: tuple(nodes) for path, nodes in families.items()}

    @property
    def sections(self) -> tuple[Node, ...]:
        """The pages right below the root."""
        return tuple(node for node in self.nodes if node.parent is None)


def grow(seed: str, texts: Texts, *, bulk: int) -> Tree:
    """Grow the tree of a site, with at least this many pages of its most numerous kind."""
    return Tree(nodes=tuple(_Grower(seed, texts, bulk).grow()))


class _Grower:
    def __init__(self, seed: str, texts: Texts, bulk: int) -> None:
        self._random = Random(seed)  # noqa: S311 (content, no secret)
        self._texts = texts
        self._bulk = bulk
        self._titles: set[str] = set()
        self._supplies: dict[tuple[str, str], list[Topic]] = {}
        self._nodes: dict[str, list[Node]] = {}

    def grow(self) -> Iterator[Node]:
        for kind, spec in self._texts.kinds.items():
            text = self._texts.texts[kind]
            self._nodes[kind] = [*(self._below(kind, spec, text) if spec.parent else self._section(kind, text))]
            yield from self._nodes[kind]

    def _section(self, kind: str, text: KindText) -> Iterator[Node]:
        self._titles.add(text.title)
        yield Node(kind=kind, path=f"/{self._texts.lang}/{kind}", topic=Topic(name=text.title))

    def _below(self, kind: str, spec: KindSpec, text: KindText) -> Iterator[Node]:
        count = max(spec.count, self._bulk) if spec.bulk else spec.count
        for parent in self._nodes[spec.parent]:
            for _ in range(count):
                ref = self._random.choice(self._nodes[spec.refs]) if spec.refs else None
                topic = self._topic(kind, text, parent, ref)
                if topic is None:
                    break
                yield Node(
                    kind=kind,
                    path=f"{parent.path}/{self._slug(topic)}",
                    topic=topic,
                    parent=parent,
                    ref=ref,
                    facts=draw_facts(spec.facts, text.formats, self._texts, self._random),
                )

    def _topic(self, kind: str, text: KindText, parent: Node, ref: Node | None) -> Topic | None:
        """Take a topic that no page has yet; None where there are no more."""
        topic = self._named(text, parent, ref) if text.names else self._supplied(kind, text, parent)
        if topic is not None:
            self._titles.add(topic.name)
        return topic

    def _named(self, text: KindText, parent: Node, ref: Node | None) -> Topic | None:
        for _ in range(_TRIES):
            words = {name: self._random.choice(words) for name, words in self._texts.lists.items()}
            name = self._random.choice(text.names).format_map(
                words | {"parent": parent.title, "ref": ref.title if ref else ""}
            )
            if name not in self._titles:
                return Topic(name=name)
        return None

    def _supplied(self, kind: str, text: KindText, parent: Node) -> Topic | None:
        """Take the next topic that belongs to the nearest page above which has some, else of the kind's own."""
        owner = next((node for node in reversed(parent.chain) if kind in node.topic.below), None)
        key = (kind, owner.path if owner else "")
        if key not in self._supplies:
            topics = list(owner.topic.below[kind] if owner else text.topics)
            self._random.shuffle(topics)
            self._supplies[key] = topics
        supply = self._supplies[key]
        while supply:
            topic = supply.pop()
            if topic.name not in self._titles:
                return topic
        return None

    def _slug(self, topic: Topic) -> str:
        """Name pages in addresses the way sites of the language do: by their title, or by a number."""
        if self._texts.lang != "en":
            return str(_FIRST_NUMBER + len(self._titles))
        return re.sub(r"[^a-z0-9]+", "-", topic.name.lower().replace("'", "")).strip("-")
