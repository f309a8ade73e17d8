"""The embedded target: walks a site best first and answers with a quoted passage; no model endpoint, no key.

Invariant: a decision depends on the question and the trajectory alone, whatever was loaded ahead and in whatever order.
"""

from __future__ import annotations

from agent.predictors.ranker import LinkRanker
from agent.target import Answer, Decision
from agent.targets.frontier import Candidate, Trajectory, frontier
from agent.targets.quote import best_quotes
from agent.targets.searches import open_searches
from browser.action import Search, Visit
from browser.address import page_key
from browser.observation import Document

MAX_PAGES = 8
"""Pages read for a question, the first included."""


class WalkTarget:
    """Visits the most promising link until enough pages are read, then quotes the passage that fits best.

    Args:
        ranker: Orders the links; its embedder also judges the passages.
        max_pages: How many pages are read, the first included.
        searching: Whether there is a search engine, which it asks for the question's names once no link is left.
    """

    def __init__(self, ranker: LinkRanker, *, max_pages: int = MAX_PAGES, searching: bool = False) -> None:
        self._ranker = ranker
        self._max_pages = max_pages
        self._searching = searching

    @property
    def name(self) -> str:
        """How reports call it."""
        return "embedded"

    async def decide(self, question: str, trajectory: Trajectory, /) -> Decision:
        """Decide by the frontier, search where no link is left, or answer once the pages are used up.

        Raises:
            ConfigurationError: The embedding model is not installed as it should be.
        """
        if len(trajectory) >= self._max_pages:
            return await self.conclude(question, trajectory)
        if open_links := await frontier(question, trajectory, self._ranker):
            best = open_links[0]
            return Decision(action=Visit(best.link.url), thought=_reason(best, among=len(open_links)))
        if self._searching and (searches := open_searches(question, trajectory)):
            return Decision(action=searches[0], thought="No link is left; this name of the question is searched for.")
        return await self.conclude(question, trajectory)

    async def conclude(self, question: str, trajectory: Trajectory, /) -> Decision:
        """Quote the passage that fits best of all pages read.

        Raises:
            ConfigurationError: The embedding model is not installed as it should be.
        """
        documents = pages_read(trajectory)
        quotes = await best_quotes(question, documents, self._ranker.embedder)
        if not quotes:
            return Decision(action=Answer(text=""), thought="Nothing on the pages read has to do with the question.")
        thought = f"Of {len(documents)} pages read, this passage fits the question best ({quotes[0].score:.2f})."
        return Decision(action=Answer(text=quotes[0].text, sources=(quotes[0].url,)), thought=thought)


def pages_read(trajectory: Trajectory) -> tuple[Document, ...]:
    """Return the pages that may be quoted: of what a search shows, the pages found have the whole."""
    read: dict[str, Document] = {}
    for step in trajectory:
        document = step.observation.document
        if document.problem is None and not isinstance(step.action, Search):
            read.setdefault(page_key(document.url), document)
    return tuple(read.values())


def _reason(candidate: Candidate, *, among: int) -> str:
    return f"Of {among} links seen and not yet followed, {candidate.link.text!r} promises most."
