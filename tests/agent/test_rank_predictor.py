from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from agent.predictors.embedding import Embedder
from agent.predictors.rank_predictor import RankPredictor
from agent.predictors.ranker import LinkRanker
from agent.targets.walk import WalkTarget
from browser.action import Action, Visit
from browser.observation import Observation
from speccache.environment import Step
from speccache.predictor import Guess
from tests.agent.test_frontier import CONCURRENCY, QUESTION, ROOT, page, visit

RANKER = LinkRanker(Embedder())


async def guesses(*steps: Step[Action, Observation], max_guesses: int = 8) -> list[Guess[Action]]:
    predictor = RankPredictor(QUESTION, RANKER, max_guesses=max_guesses)
    return [guess async for guess in predictor.predict(steps)]


async def test_guesses_come_best_first() -> None:
    found = await guesses(visit(ROOT))

    assert [guess.rank for guess in found] == [1, 2, 3]
    assert [guess.score for guess in found] == sorted((guess.score for guess in found), reverse=True)
    assert all(0.0 <= guess.score <= 1.0 for guess in found)
    assert {guess.predictor for guess in found} == {"rank"}


async def test_the_first_guess_is_what_the_embedded_target_does() -> None:
    for steps in ((visit(ROOT),), (visit(ROOT), visit(CONCURRENCY))):
        decision = await WalkTarget(LinkRanker(Embedder())).decide(QUESTION, steps)

        assert (await guesses(*steps))[0].action == decision.action


async def test_no_more_than_asked_for() -> None:
    found = await guesses(visit(ROOT), max_guesses=1)

    assert [guess.action for guess in found] == [Visit("http://site.test/concurrency")]


async def test_a_page_without_links_gives_no_guess() -> None:
    assert await guesses(visit(page("/"))) == []


async def test_the_iterator_may_be_closed_early() -> None:
    iterator = RankPredictor(QUESTION, RANKER).predict((visit(ROOT),))
    assert isinstance(iterator, AsyncGenerator)

    async with aclosing(iterator):
        await anext(iterator)

    assert [guess async for guess in iterator] == []
