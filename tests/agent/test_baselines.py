from __future__ import annotations

import pytest

from agent.predictors.baselines import FirstPredictor, NonePredictor, OraclePredictor, RandomPredictor
from agent.targets.frontier import Trajectory
from browser.action import Action, Back, Find, Search, Visit
from browser.observation import Observation
from speccache.environment import Step
from speccache.predictor import Guess, Predictor
from tests.agent.test_frontier import SITE, page, visit

PAGE = page(
    "/now",
    ("Log out", "/logout"),
    ("Home", "/"),
    *((f"Page {number}", f"/{number}") for number in range(1, 9)),
    ("Page 1 again", "/1"),
    ("Elsewhere", "http://other.test/"),
)
STEPS = (visit(page("/", ("Now", "/now"))), visit(PAGE))
NOWHERE = (visit(page("/")),)


async def guesses(predictor: Predictor[Action, Observation], steps: Trajectory = STEPS) -> list[Guess[Action]]:
    return [guess async for guess in predictor.predict(steps)]


async def paths(predictor: Predictor[Action, Observation], steps: Trajectory = STEPS) -> list[str]:
    return [str(guess.action).removeprefix(f"visit {SITE}") for guess in await guesses(predictor, steps)]


async def test_the_first_links_that_may_be_followed_and_were_not_read() -> None:
    assert await paths(FirstPredictor()) == ["/1", "/2", "/3"]


async def test_random_links_are_the_same_in_every_run() -> None:
    drawn = await paths(RandomPredictor("Who?", max_guesses=4))

    assert len(set(drawn)) == 4
    assert set(drawn) <= {f"/{number}" for number in range(1, 9)}
    predictor = RandomPredictor("Who?", max_guesses=4)
    await paths(predictor, NOWHERE)
    assert await paths(predictor) == drawn


async def test_another_seed_or_question_draws_other_links() -> None:
    drawn = [RandomPredictor("Who?", max_guesses=8), RandomPredictor("Who?", max_guesses=8, seed=1)]
    orders = [await paths(each) for each in (*drawn, RandomPredictor("When?", max_guesses=8))]

    assert len({tuple(order) for order in orders}) == 3
    assert {frozenset(order) for order in orders} == {frozenset(f"/{number}" for number in range(1, 9))}


async def test_none_names_nothing() -> None:
    assert await paths(NonePredictor()) == []


async def test_the_oracle_names_the_next_page_of_its_path() -> None:
    oracle = OraclePredictor([f"{SITE}/now", f"{SITE}/5#part"])

    assert await guesses(oracle, STEPS[:1]) == [Guess(action=Visit(f"{SITE}/now"), predictor="oracle", rank=1, score=1)]
    assert await paths(oracle) == ["/5"]


async def test_the_oracle_names_links_of_earlier_pages_and_pages_read_before() -> None:
    away = visit(page("/1", ("Root", "/")))
    oracle = OraclePredictor([f"{SITE}/", f"{SITE}/now", f"{SITE}/1", f"{SITE}/2", f"{SITE}/now"])

    assert await paths(oracle, (*STEPS, away)) == ["/2"]
    assert await paths(oracle, (*STEPS, away, visit(page("/2")))) == ["/now"]


async def test_the_oracle_names_searches_and_links_by_their_numbers_but_nothing_that_shows_no_other_page() -> None:
    done = [Visit(f"{SITE}/now"), Search("who"), Find("ada"), Visit("1")]
    results = Step(Search("who"), page("/results", ("Ada", "/ada")))
    oracle = OraclePredictor(done)

    assert [guess.action for guess in await guesses(oracle, STEPS)] == [Search("who")]
    assert await guesses(oracle, (*STEPS, results)) == []
    found = Step(Find("ada"), results.observation)
    assert await paths(oracle, (*STEPS, results, found)) == ["/ada"]
    assert await guesses(oracle, (*STEPS, results, found, Step(Visit("1"), page("/ada")))) == []


async def test_the_oracle_goes_on_behind_a_redirect_and_actions_that_its_path_leaves_out() -> None:
    moved = visit(page("/new", requested="/1"))
    oracle = OraclePredictor([f"{SITE}/now", f"{SITE}/new", f"{SITE}/3"])

    assert await paths(oracle, (*STEPS, moved, Step(Back(), PAGE))) == ["/3"]


@pytest.mark.parametrize("path", [(), ("/now",), ("/now", "/logout"), ("/now", "/absent")])
async def test_the_oracle_names_nothing_that_is_not_offered(path: tuple[str, ...]) -> None:
    assert await paths(OraclePredictor([SITE + each for each in path])) == []


@pytest.mark.parametrize("predictor", [FirstPredictor(), RandomPredictor("Who?"), OraclePredictor([f"{SITE}/1"])])
async def test_a_page_without_links_gives_no_guess(predictor: Predictor[Action, Observation]) -> None:
    assert await paths(predictor, NOWHERE) == []
