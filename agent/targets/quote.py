"""Finds the passage on the pages read that best answers a question: all the answering there is without a model.

Invariant: what is returned stands on one of the pages, word for word; nothing is ever composed. Scores do not
clearly tell right from wrong, so a quote is an offer with its source, never a claim.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.predictors.embedding import Embedder
from agent.predictors.words import coverage, weights, words
from agent.targets.passages import Passage, passages
from browser.observation import Document

SHORTLIST = 64
"""How many passages, by the words they share with the question, are also compared by meaning (15 ms each)."""
COVERAGE_WEIGHT = 0.5
"""What covering every word of the question adds to a similarity of at most 1."""
KIND_WEIGHT = 0.4
"""What holding the kind of thing that is asked for (a number, a date, a name) adds. Both: chosen on 12 questions."""

MIN_SCORE = 0.3
"""Below it a passage has nothing to do with the question; right answers score about 1, as do many wrong ones."""

_SECTION_NUMBER = re.compile(r"^(chapter |appendix |part )?\d+(\.\d+)*\.?\s+", re.IGNORECASE)
# What a question asks for, and how such a thing looks; the first that fits counts.
_KINDS = (
    (
        re.compile(
            r"\bwhen\b|\b(which|what) (date|day|month|year)\b|哪年|何时|什么时候|日期|哪一?[年天]", re.IGNORECASE
        ),
        re.compile(r"\b(19|20)\d\d\b|\d{4}年|\d+月"),
    ),
    (
        re.compile(r"\bwho(se|m)?\b|谁|哪位", re.IGNORECASE),
        re.compile(r"\b[A-Z][a-z]+ (?:[A-Z]\.? )?[A-Z][a-z]+|[\u4e00-\u9fff]+·[\u4e00-\u9fff]+"),
    ),
    (
        re.compile(
            r"\bhow (many|much|long|often|large|big|old|far|high|fast|deep)\b|\b(number|maximum|minimum|limit|size|code"
            r"|delay|range|level|bytes|(milli)?seconds|percent|price|cost|version|port)\b|多少|几|最[大小多少高低]|上限|编号",
            re.IGNORECASE,
        ),
        re.compile(
            r"\d+(?:[.,:]\d+)*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|hundred|thousand)\b",
            re.IGNORECASE,
        ),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A passage and where it stands.

    Attributes:
        text: The passage, after what it stands under where it does not say that itself.
        url: The page it stands on.
        score: How well it fits; comparable for one question only.
    """

    text: str
    url: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    passage: Passage
    url: str
    rough: float = 0.0

    @property
    def in_context(self) -> str:
        return f"{self.passage.context}: {self.passage.text}".removeprefix(": ")


async def best_quotes(
    question: str, documents: Sequence[Document], embedder: Embedder, *, limit: int = 1
) -> tuple[Quote, ...]:
    """Return the passages that fit the question best, best first; none if nothing has to do with it.

    Raises:
        ConfigurationError: The embedding model is not installed as it should be.
    """
    candidates = await asyncio.to_thread(_shortlist, question, documents)
    vectors = await embedder.embed([question, *(candidate.in_context for candidate in candidates)])
    similarity = (vectors[1:] @ vectors[0]).tolist()
    quotes = [
        Quote(text=_readable(candidate.passage), url=candidate.url, score=round(candidate.rough + close, 4))
        for candidate, close in zip(candidates, similarity, strict=True)
    ]
    plausible = [quote for quote in quotes if quote.score >= MIN_SCORE]
    return tuple(sorted(plausible, key=lambda quote: -quote.score)[:limit])


def _shortlist(question: str, documents: Sequence[Document]) -> list[_Candidate]:
    found: dict[Passage, _Candidate] = {}
    for document in documents:
        for passage in passages(document.markdown):
            found.setdefault(passage, _Candidate(passage=passage, url=document.url))
    weighed = weights(question, [candidate.in_context for candidate in found.values()])
    scored = [
        replace(
            candidate,
            rough=COVERAGE_WEIGHT * coverage(candidate.in_context, weighed)
            + KIND_WEIGHT * _is_asked_for(question, candidate.passage.text),
        )
        for candidate in found.values()
    ]
    return sorted(scored, key=lambda candidate: -candidate.rough)[:SHORTLIST]


def _is_asked_for(question: str, text: str) -> bool:
    """Tell whether the text holds a thing of the kind that is asked for, which the question does not name itself."""
    for asks, kind in _KINDS:
        if asks.search(question):
            return any(match[0].casefold() not in question.casefold() for match in kind.finditer(text))
    return False


def _readable(passage: Passage) -> str:
    label = _SECTION_NUMBER.sub("", passage.label)
    if not label or words(label) <= words(passage.text):
        return passage.text
    return f"{label}: {passage.text}"
