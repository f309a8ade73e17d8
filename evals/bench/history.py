"""How often a client's next link is among the first guesses from its history, with a goal and without one.

Invariant: the predictor sees the pages up to there and, where there is one, the goal, as it does in `speccache mcp`;
the path only judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from agent.predictors.embedding import Embedder
from agent.predictors.history_predictor import GOAL, HISTORY, HistoryPredictor
from agent.predictors.rank_predictor import QUICK
from agent.predictors.ranker import LinkRanker
from browser.action import Visit
from browser.address import page_key
from evals.bench.recall import CUTS, Case, bundled_cases, read_cases
from evals.bench.result import Result, compare_shares

_RANKS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Guessed:
    """How one page's guesses did.

    Attributes:
        place: Which of all guesses the right link is, in the order in which they are named, from 1; 0: none.
        rank: The rank of the predictor's own guess that it is, which priors are about; 0: none.
    """

    place: int
    rank: int


async def history(files: Sequence[Path] = (), sites: Path = Path()) -> Result:
    """Measure on question files over sites in folders; without files, on the bundled site."""
    cases = await (read_cases(files, sites) if files else bundled_cases())
    ranker = LinkRanker(Embedder())
    found = {
        GOAL: [await _guess(case, ranker, goal=case.question, name=GOAL) for case in cases],
        HISTORY: [await _guess(case, ranker, goal="", name=HISTORY) for case in cases],
    }
    shares = {name: _shares(guesses) for name, guesses in found.items()}
    with_goal, without = ([int(0 < each.place <= 3) for each in guesses] for guesses in found.values())
    unit = "pages; right link among the first three guesses, with a goal over without"
    return compare_shares("history", with_goal, without, unit=unit, parts=shares)


async def _guess(case: Case, ranker: LinkRanker, *, goal: str, name: str) -> _Guessed:
    named: dict[str, int] = {}
    async for guess in HistoryPredictor(ranker, goal=lambda: goal).predict(case.trajectory):
        if isinstance(guess.action, Visit) and guess.predictor != QUICK:  # which the same link follows, ranked
            key = page_key(guess.action.target)
            named[key] = guess.rank if guess.predictor == name else named.get(key, 0)
    places = list(named)
    place = places.index(case.gold) + 1 if case.gold in named else 0
    return _Guessed(place=place, rank=named.get(case.gold, 0))


def _shares(guesses: Sequence[_Guessed]) -> dict[str, object]:
    return {
        **{f"@{cut}": round(mean(0 < each.place <= cut for each in guesses), 3) for cut in CUTS},
        "by_rank": [round(mean(each.rank == rank for each in guesses), 3) for rank in range(1, _RANKS + 1)],
    }
