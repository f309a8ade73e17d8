"""The free predictor: guesses that the target follows the most promising link seen so far.

Invariant: it guesses from the same frontier the embedded target walks by, so for that target its first guess is right
unless the target answers instead. For any other target it is a guess like the draft model's, made in milliseconds.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from agent.frontier import Trajectory, frontier
from agent.ranker import MAX_SCORE, LinkRanker
from browser.action import Action, Visit
from speccache.predictor import Guess


class RankPredictor:
    """Names links of this page and the earlier ones, best first.

    Args:
        question: What the target is to answer.
        ranker: Orders the links; shared with the embedded target, so that each page is ranked once.
        max_guesses: How many are named at a time.
    """

    def __init__(self, question: str, ranker: LinkRanker, *, max_guesses: int = 8) -> None:
        self._question = question
        self._ranker = ranker
        self._max_guesses = max_guesses

    @property
    def name(self) -> str:
        """How events and reports call it."""
        return "rank"

    async def predict(self, trajectory: Trajectory, /) -> AsyncIterator[Guess[Action]]:
        """Yield guesses for the next action, the most plausible first.

        Cancellation: closing the iterator leaves nothing running but at most one batch of the embedding model.

        Raises:
            ConfigurationError: The embedding model is not installed as it should be.
        """
        candidates = await frontier(self._question, trajectory, self._ranker)
        for rank, candidate in enumerate(candidates[: self._max_guesses], 1):
            yield Guess(
                action=Visit(candidate.link.url),
                predictor=self.name,
                rank=rank,
                score=min(1.0, max(0.0, candidate.score / MAX_SCORE)),
            )
