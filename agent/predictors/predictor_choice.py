"""Which predictors guess in a run, by the name a person gives.

Invariant: a name stands for the same predictors everywhere; whatever they name, the cache's own cap bounds what loads.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import cast

from agent.errors import ConfigurationError
from agent.predictors.baselines import FirstPredictor, NonePredictor, RandomPredictor
from agent.predictors.draft_predictor import DraftPredictor
from agent.predictors.rank_predictor import RankPredictor
from agent.predictors.ranker import LinkRanker
from agent.predictors.search_predictor import SearchPredictor
from agent.settings import PredictorName
from agent.targets.frontier import Trajectory
from browser.action import Action
from browser.observation import Observation
from speccache.predictor import Guess, Predictor

Predictors = Sequence[Predictor[Action, Observation]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The predictors of a run.

    Attributes:
        predictors: These guess the next action, side by side.
        deeper: These also guess the one after.
    """

    predictors: Predictors
    deeper: Predictors = ()


class InTurn:
    """Names what one predictor names and then, once it has nothing more to say, what the next one does."""

    def __init__(self, *predictors: Predictor[Action, Observation]) -> None:
        self._predictors = predictors

    @property
    def name(self) -> str:
        """How events and reports call it; the guesses keep the names of those who made them."""
        return ", then ".join(predictor.name for predictor in self._predictors)

    async def predict(self, trajectory: Trajectory, /) -> AsyncGenerator[Guess[Action]]:
        """Yield the guesses of one predictor after the other."""
        for predictor in self._predictors:
            stream = cast("AsyncGenerator[Guess[Action]]", predictor.predict(trajectory))
            async with aclosing(stream) as guesses:
                async for guess in guesses:
                    yield guess


def choose(
    name: PredictorName,
    question: str,
    *,
    ranker: LinkRanker,
    draft: DraftPredictor | None,
    max_guesses: int,
    max_pages: int | None = None,
    searching: bool = False,
) -> Choice:
    """Return the predictors that a name stands for.

    Args:
        name: The name.
        question: What the target is to answer.
        ranker: Orders links; shared with the embedded target.
        draft: Asks the draft model; None where there is none.
        max_guesses: How many guesses a turn may take up.
        max_pages: After so many pages the target, which is the embedded one, will not visit another; None: another
            target decides.
        searching: Whether there is a search engine: then the free predictors name searches, too, after all links.

    Raises:
        ConfigurationError: The draft model is to guess, and there is none.
    """
    rank = RankPredictor(question, ranker, max_pages=max_pages)
    walk = None if max_pages is None else ranker
    searches = [SearchPredictor(question, walk=walk, max_pages=max_pages)] if searching else []
    match name:
        case PredictorName.DEFAULT if draft is not None:
            # The ranker's best starts at once. Its other guesses only fill what the draft model leaves of the cap: were
            # they named first, each better guess of the draft's would have to cancel a load that is under way.
            best = RankPredictor(question, ranker, max_guesses=1, max_pages=max_pages)
            rest = RankPredictor(question, ranker, skip=1, max_pages=max_pages)
            return Choice(predictors=(best, *searches, InTurn(draft, rest)), deeper=(rank,))
        case PredictorName.DEFAULT | PredictorName.RANK:
            return Choice(predictors=(rank, *searches), deeper=(rank,))
        case PredictorName.DRAFT if draft is not None:
            return Choice(predictors=(draft,))
        case PredictorName.DRAFT:
            raise ConfigurationError(
                "the draft model is to guess ahead, but none is set",
                hint="Name it with --draft NAME, or let the free ranker guess: --predictor rank.",
            )
        case PredictorName.FIRST:
            return Choice(predictors=(FirstPredictor(max_guesses=max_guesses),))
        case PredictorName.RANDOM:
            return Choice(predictors=(RandomPredictor(question, max_guesses=max_guesses),))
        case PredictorName.NONE:
            return Choice(predictors=(NonePredictor(),))
