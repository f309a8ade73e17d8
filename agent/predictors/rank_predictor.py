"""The free predictor: guesses that the target follows the most promising link seen so far.

Invariant: it guesses from the same frontier the embedded target walks by, so for that target its first guess is right
unless the target answers instead. For any other target it is a guess like the draft model's, made in milliseconds.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

from agent.predictors.ranker import MAX_SCORE, LinkRanker
from agent.predictors.search_predictor import SEARCH
from agent.targets.frontier import NEAR, Trajectory, frontier, offered
from browser.action import Action, Visit
from browser.address import page_key
from speccache.predictor import Guess

QUICK = "quick"
RANK = "rank"

PRIORS = {QUICK: (0.50,), RANK: (0.64, 0.13, 0.05, 0.02, 0.02, 0.02, 0.02, 0.02), SEARCH: (0.24, 0.03)}
"""How often the first, second, third … guess is the right next link, on 426 pages: `python -m evals.bench recall`, 98
of the bundled site and 45 of three real ones (0.67 and 0.64 at 1, 0.76 and 0.82 at 3), and the first 40 questions each
of the suites `walks` and `encyclopaedia`, seed 7 (0.61 and 0.63 at 1, 0.83 and 0.83 at 3). The sixth to eighth are
right in 0.01 each, but held at what is still worth a load, for whoever asks for so many. Of searches: how often the
next step of a known way is the first search that the question suggests and nobody made, once a page was read (suite
`encyclopaedia` of seed 8, 46 of 195)."""


class RankPredictor:
    """Names links of this page and the earlier ones, best first.

    A page that is new to the ranker is first judged by its words alone, so that one load starts before the model has
    read it; that guess is named `quick`.

    Args:
        question: What the target is to answer.
        ranker: Orders the links; shared with the embedded target, so that each page is ranked once.
        max_guesses: How many are named at a time.
        skip: How many of the best are left to another one of these, and with them the quick guess.
        max_pages: After so many pages the target will not visit another; None: it may always.
    """

    name = RANK

    def __init__(
        self,
        question: str,
        ranker: LinkRanker,
        *,
        max_guesses: int = 8,
        skip: int = 0,
        max_pages: int | None = None,
    ) -> None:
        self._question = question
        self._ranker = ranker
        self._max_guesses = max_guesses
        self._skip = skip
        self._max_pages = max_pages

    async def predict(self, trajectory: Trajectory, /) -> AsyncGenerator[Guess[Action]]:
        """Yield guesses for the next action, the most plausible first.

        Cancellation: closing the iterator leaves nothing running but at most one batch of the embedding model.

        Raises:
            ConfigurationError: The embedding model is not installed as it should be.
        """
        if self._max_pages is not None and len(trajectory) >= self._max_pages:
            return
        quick = None if self._skip else await self._quick(trajectory)
        if quick is not None:
            yield quick
        candidates = await frontier(self._question, trajectory, self._ranker)
        for rank, candidate in enumerate(candidates[self._skip : self._max_guesses], self._skip + 1):
            score = max(0.0, candidate.score / (MAX_SCORE + 2 * NEAR))
            yield Guess(action=Visit(candidate.link.url), predictor=RANK, rank=rank, score=score)

    async def _quick(self, trajectory: Trajectory) -> Guess[Action] | None:
        links = offered(trajectory[-1].observation)
        if not links or self._ranker.knows(self._question, links):
            return None
        read = {page_key(step.observation.url) for step in trajectory}
        ranked = await self._ranker.quick(self._question, links)
        best = next((each for each in ranked if page_key(each.link.url) not in read), None)
        if best is None:
            return None
        return Guess(action=Visit(best.link.url), predictor=QUICK, rank=1, score=best.score / MAX_SCORE)
