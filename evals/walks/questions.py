"""Makes the questions of one site.

How they are made: a page is drawn, and a fact that it states; the question is a template of that kind of page, written
by hand before any ranker saw these sites, and never changed for one. It calls the page by its name or by what it is
about, often names the page above, and paraphrases the label of the fact. A question over several pages asks for the
same fact of two or three of them (both, the earlier, the greater, the sum), or joins two questions that have nothing to
do with each other.

The way to a page is the one a person takes who reads from above: from the lowest page of its chain (section, group,
page, …) that the root links to, link by link.

Difficulty is that of WebWalkerQA: for one page, by the links to it (1 easy, 2 medium, more hard); for several, by all
links together (2 easy, 3 or 4 medium, more hard). Each is as frequent as there (80 : 140 : 120).

Invariant: what a page must hold for the answer stands on no other page of the site that also names the subject.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from evals.suites.item import Item
from evals.walks.facts import write_number
from evals.walks.texts import Relate, Texts
from evals.walks.tree import Node, Tree

DIFFICULTIES = "mhemhmehmhmehmhme"
"""The difficulties of questions in turn, by their first letters."""

_NAMES = {"e": "easy", "m": "medium", "h": "hard"}
_TRIES = 300
_JOINED_SHARE = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A question before it is an item: its text, its answer, and the pages that hold it with the fact on each."""

    question: str
    answer: str
    nodes: tuple[Node, ...]
    facts: tuple[str, ...]


def difficulty_of(hops: Sequence[int]) -> str:
    """Say how hard a question is whose pages are these many links away from the root."""
    total = sum(hops)
    easy, medium = (1, 2) if len(hops) == 1 else (2, 4)
    return "easy" if total <= easy else "medium" if total <= medium else "hard"


class Questioner:
    """Makes the questions of a site."""

    def __init__(
        self, site: str, tree: Tree, texts: Texts, on_root: frozenset[str], read: Mapping[str, str], random: Random
    ) -> None:
        """Take the site's name, its pages, the addresses its root links to, and what a person reads on each page."""
        self._site = site
        self._tree = tree
        self._texts = texts
        self._on_root = on_root
        self._read = read
        self._random = random
        self._asked: set[str] = set()
        self._kinds = [kind for kind in texts.kinds if texts.texts[kind].asks and kind in tree.by_kind]

    def items(self, *, single: int, multi: int, first: int) -> Iterator[Item]:
        """Make this many questions; their difficulties begin at a place, `first`, of the published mix."""
        number = 0
        for draw, count in ((self._single, single), (self._multi, multi)):
            for place in range(count):
                number += 1
                wanted = DIFFICULTIES[(first + place) % len(DIFFICULTIES)]
                yield self._item(number, self._choose(draw, _NAMES[wanted]))

    def _choose(self, draw: Callable[[], Draft | None], wanted: str) -> Draft:
        """Draw until a question is as hard as wanted, or else take the first good one."""
        spare: Draft | None = None
        for _ in range(_TRIES):
            draft = draw()
            if draft is None:
                continue
            is_wanted = difficulty_of([len(self._way(node)) for node in draft.nodes]) == wanted
            if (is_wanted or spare is None) and self._is_fair(draft):
                spare = draft
                if is_wanted:
                    break
        if spare is None:
            raise ValueError(f"no question can be asked about the site {self._site}")
        self._asked.update(node.path for node in spare.nodes)
        return spare

    def _item(self, number: int, draft: Draft) -> Item:
        ways = tuple(self._way(node) for node in draft.nodes)
        return Item(
            id=f"{self._site}-{number}",
            question=draft.question,
            answer=draft.answer,
            url=f"/{self._texts.lang}",
            site=self._site,
            answer_tokens=draft.facts,
            golden=ways,
            sources=tuple(node.path for node in draft.nodes),
            lang=self._texts.lang,
            kind="single_source" if len(ways) == 1 else "multi_source",
            difficulty=difficulty_of([len(way) for way in ways]),
            domain=self._texts.domain,
        )

    def _way(self, node: Node) -> tuple[str, ...]:
        chain = [each.path for each in node.chain]
        entered = max(place for place, path in enumerate(chain) if path in self._on_root)
        return tuple(chain[entered:])

    def _is_fair(self, draft: Draft) -> bool:
        """Whether the question gives nothing away, and each fact stands on its own page alone."""
        return not any(fact in draft.question for fact in draft.facts) and all(
            self._stands_alone(node, fact) for node, fact in zip(draft.nodes, draft.facts, strict=True)
        )

    def _stands_alone(self, node: Node, fact: str) -> bool:
        names = [name for name in (node.topic.name, node.topic.about) if name]
        found = [path for path, text in self._read.items() if fact in text and any(name in text for name in names)]
        return found == [node.path]

    def _single(self) -> Draft | None:
        node = self._node(self._random.choice(self._kinds))
        if node is None:
            return None
        ask = self._random.choice(self._texts.texts[node.kind].asks)
        fact = node.facts[ask.fact].text
        return Draft(question=ask.ask.format_map(node.words()), answer=fact, nodes=(node,), facts=(fact,))

    def _node(self, kind: str) -> Node | None:
        """Draw a page of a kind that nothing was asked about yet; None where the draw was in vain."""
        node = self._random.choice(self._tree.by_kind[kind])
        return None if node.path in self._asked else node

    def _multi(self) -> Draft | None:
        return self._joined() if self._random.random() < _JOINED_SHARE else self._related()

    def _joined(self) -> Draft | None:
        first, second = self._single(), self._single()
        if first is None or second is None or first.nodes[0].kind == second.nodes[0].kind:
            return None
        start, end = first.question[:-1], second.question[0].lower() + second.question[1:]
        return Draft(
            question=self._texts.phrases["joined"].format(first=start, second=end),
            answer=self._all(first.facts + second.facts),
            nodes=first.nodes + second.nodes,
            facts=first.facts + second.facts,
        )

    def _related(self) -> Draft | None:
        kind = self._random.choice(self._kinds)
        if not self._texts.texts[kind].multi:
            return None
        relate = self._random.choice(self._texts.texts[kind].multi)
        nodes = [node for node in (self._node(kind) for _ in range(relate.pages)) if node]
        if len({node.path for node in nodes}) < relate.pages:
            return None
        names = [node.title if relate.by == "name" else node.topic.about for node in nodes]
        answer = self._answer(relate, nodes, names)
        if answer is None:
            return None
        question = relate.ask.format_map(_words(nodes, names))
        facts = tuple(node.facts[relate.fact].text for node in nodes)
        return Draft(question=question, answer=answer, nodes=tuple(nodes), facts=facts)

    def _answer(self, relate: Relate, nodes: Sequence[Node], names: Sequence[str]) -> str | None:
        """Answer a question over several pages; None where there is no one answer."""
        facts = [node.facts[relate.fact] for node in nodes]
        ranks = [fact.rank for fact in facts]
        match relate.relation:
            case "both":
                return self._all(tuple(fact.text for fact in facts))
            case "sum":
                form = self._texts.texts[nodes[0].kind].formats.get(relate.fact, "")
                return write_number(sum(ranks), self._texts.kinds[nodes[0].kind].facts[relate.fact], form, self._texts)
        best = min(ranks) if relate.relation == "first" else max(ranks)
        return names[ranks.index(best)] if ranks.count(best) == 1 else None

    def _all(self, facts: tuple[str, ...]) -> str:
        return self._texts.phrases["comma"].join(facts[:-1]) + self._texts.phrases["and"] + facts[-1]


def _words(nodes: Sequence[Node], names: Sequence[str]) -> dict[str, str]:
    """Return what a question over several pages is filled with: `a` is the first, `a_parent` the one above."""
    words: dict[str, str] = {}
    for letter, node, name in zip("abc", nodes, names, strict=False):
        own = node.words()
        words |= {letter: name, f"{letter}_parent": own["parent"], f"{letter}_above": own["above"]}
    return words
