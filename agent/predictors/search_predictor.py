"""The free predictor of searches: guesses that the target searches for the names its question is made of.

Invariant: for the embedded target, which searches only once no link is left, its first guess is right unless the target
answers instead.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

from agent.predictors.ranker import LinkRanker
from agent.targets.frontier import Trajectory, frontier
from agent.targets.searches import open_searches
from browser.action import Action, Search
from speccache.predictor import Guess

SEARCH = "search"


class SearchPredictor:
    """Names the searches that the question suggests and that were not made yet, in the question's order.

    Args:
        question: What the target is to answer.
        walk: Orders the links of the embedded target, where that is the target; None: another one is, which may search
            at any time.
        max_pages: After so many pages the target will not search any more; None: it may always.
    """

    name = SEARCH

    def __init__(self, question: str, *, walk: LinkRanker | None = None, max_pages: int | None = None) -> None:
        self._question = question
        self._walk = walk
        self._max_pages = max_pages

    async def predict(self, trajectory: Trajectory, /) -> AsyncGenerator[Guess[Action]]:
        """Yield searches.

        Raises:
            ConfigurationError: The embedding model is not installed as it should be.
        """
        if self._max_pages is not None and len(trajectory) >= self._max_pages:
            return
        if self._walk is not None and await frontier(self._question, trajectory, self._walk):
            return
        if self._walk is None and isinstance(trajectory[-1].action, Search):
            return  # its results are there to be opened
        for rank, search in enumerate(open_searches(self._question, trajectory), start=1):
            yield Guess(action=search, predictor=SEARCH, rank=rank, score=1 / rank)
