"""Ranks the links of a page by how likely they lead to the answer of a question: no model endpoint, no key.

Invariant: a score depends on the question and the page's links alone, never on what was ranked before.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent.predictors.embedding import Embedder
from agent.predictors.words import coverage, is_wide, kinship, precision, url_words, weights
from browser.observation import Link
from speccache.flight import Flights

SHORTLIST = 24
"""How many links of a page are also read with their context, which costs four times a link's text."""
MAX_LINKS = 250
"""How many links of a page are read at all (2 ms each); of an index with thousands, those with the question's words."""
MAX_PAGES = 256
"""How many pages' scores are kept."""
MAX_SCORE = 4.3
_MENTIONED = 0.5
"""What a name counts that the question mentions whole: of a question with several subjects it covers only a part (on
344 pages of the suite `walks`, seeds 1 to 3, it raises recall at 3 from 0.75 to 0.80)."""
_RELATED = 0.8
"""What a label counts that the question mentions whole: on a page about a book, "Author: …" leads to its author, whose
name no question holds (on 163 pages of the suite `encyclopaedia`, seed 8, it raises recall at 3 from 0.59 to 0.76)."""

_LABEL = re.compile(r"(?:^|[.;|·] )([^.;|·:]{1,40}): $")
_HEADING_END = " \u203a "
_ROW = " | "

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedLink:
    """A link and its score; comparable for one question, over all pages.

    Attributes:
        link: The link.
        score: Similarity to the question plus the words shared with it, at most `MAX_SCORE`.
    """

    link: Link
    score: float


class LinkRanker:
    """Scores links by meaning and by the words they share with the question.

    The score is the similarity of the link's text, alone or in its context (the better one), plus the share of the
    question's words that its name covers, plus the share that name and context cover, plus parts of the shares of its
    name and of its label ("Author: …") that the question mentions. Words find identifiers, meaning finds the rest; of
    Chinese, Japanese and Korean the model knows nothing, so questions in them are left to words. Scores are kept, so
    the second ranking of a page costs nothing.

    Args:
        embedder: May be shared; keeps the vectors of a site's link texts.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._scores: dict[tuple[str, tuple[Link, ...]], tuple[float, ...]] = {}
        self._scoring: Flights[tuple[float, ...]] = Flights()

    async def scores(self, question: str, links: Sequence[Link]) -> tuple[float, ...]:
        """Score the links of one page, in their order.

        Raises:
            ConfigurationError: The embedding model is not installed as it should be.
        """
        key = (question, tuple(links))
        if key not in self._scores:
            # Target and predictor ask for the same page at the same moment.
            self._scores[key] = await self._scoring.run(key, lambda: self._score(question, links))
            if len(self._scores) > MAX_PAGES:
                del self._scores[next(iter(self._scores))]
        return self._scores[key]

    def knows(self, question: str, links: Sequence[Link]) -> bool:
        """Tell whether these links' scores are there at once."""
        return (question, tuple(links)) in self._scores

    async def quick(self, question: str, links: Sequence[Link]) -> tuple[RankedLink, ...]:
        """Return the links that share words with the question, best first, in milliseconds and without the model."""
        covered = await asyncio.to_thread(_covered, question, links)
        ranked = [RankedLink(link=link, score=score) for link, score in zip(links, covered, strict=True) if score]
        return tuple(sorted(ranked, key=lambda each: -each.score))

    async def rank(self, question: str, links: Sequence[Link]) -> tuple[RankedLink, ...]:
        """Return the links of one page, best first; equal scores stay in page order."""
        scores = await self.scores(question, links)
        ranked = [RankedLink(link=link, score=score) for link, score in zip(links, scores, strict=True)]
        return tuple(sorted(ranked, key=lambda each: -each.score))

    async def _score(self, question: str, links: Sequence[Link]) -> tuple[float, ...]:
        covered = await asyncio.to_thread(_covered, question, links)
        scores = covered.copy()
        if not is_wide(question):
            await self._add_similarity(scores, question, links)
        # Rounded so that no difference between processors in the last digit can turn an order.
        return tuple(np.round(scores, 4).tolist())

    async def _add_similarity(self, scores: Scores, question: str, links: Sequence[Link]) -> None:
        """Add to each score, in place, how near a link's meaning is to the question's."""
        covered = scores.copy()
        named = np.argsort(-covered, kind="stable")[:MAX_LINKS]
        scores[named] += await self._similarity(question, [links[at].text for at in named])
        shortlist = named[np.argsort(-scores[named], kind="stable")[:SHORTLIST]]
        in_context = await self._similarity(question, [f"{links[at].text} {links[at].context}" for at in shortlist])
        scores[shortlist] = np.maximum(scores[shortlist], covered[shortlist] + in_context)

    async def _similarity(self, question: str, texts: Sequence[str]) -> Scores:
        vectors = await self.embedder.embed([question, *texts])
        similarity: Scores = (vectors[1:] @ vectors[0]).astype(np.float64)
        return similarity


def _covered(question: str, links: Sequence[Link]) -> Scores:
    """Return how much of the question each link covers, and how far it mentions the name and label."""
    names = _names(links)
    full_names = [f"{name} {url_words(link.url)}" for name, link in zip(names, links, strict=True)]
    texts = [f"{name} {link.context}" for name, link in zip(full_names, links, strict=True)]
    weighed = weights(question, texts)
    shares = [
        coverage(full_name, weighed)
        + coverage(text, weighed)
        + _MENTIONED * precision(name, question)
        + _RELATED * kinship(label_of(link), question)
        for link, name, full_name, text in zip(links, names, full_names, texts, strict=True)
    ]
    return np.array(shares, np.float64)


def _names(links: Sequence[Link]) -> list[str]:
    """Return what each link is called: where several share a text (Read more), what stands around it."""
    shared = Counter(link.text for link in links)
    return [link.context if shared[link.text] > 1 and link.context else link.text for link in links]


def label_of(link: Link) -> str:
    """Return what the page says its target is to what the page is about, as boxes of facts do; empty: it does not say.

    That is the text before the link that ends in a colon, or the first cell of a row of two.
    """
    said = link.context.rpartition(_HEADING_END)[2]
    before = said[: max(0, said.find(link.text))]
    if before.endswith(_ROW):
        return before.removesuffix(_ROW) if said.count(_ROW) == 1 else ""
    found = _LABEL.search(before)
    return found[1] if found else ""
