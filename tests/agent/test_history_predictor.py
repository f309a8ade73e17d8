from __future__ import annotations

from agent.predictors.embedding import Embedder
from agent.predictors.history_predictor import GOAL, HISTORY, NEXT, HistoryPredictor, interest
from agent.predictors.ranker import LinkRanker
from agent.targets.frontier import Trajectory
from browser.action import Back, Find, More, Visit
from browser.observation import Document, Link, Observation
from speccache.environment import Step
from tests.agent.pages import SITE, page, walk

RANKER = LinkRanker(Embedder())


def menu(path: str, *texts: str) -> Observation:
    """A page with these links, each leading to the page of its name."""
    links = tuple(Link(number=at, text=text, url=f"{SITE}/{text.lower()}") for at, text in enumerate(texts, 1))
    return Observation(document=Document(requested_url=SITE + path, url=SITE + path, links=links), text="")


async def guesses(trajectory: Trajectory, *, goal: str = "") -> list[tuple[str, str, int]]:
    predictor = HistoryPredictor(RANKER, goal=lambda: goal, max_guesses=3)
    found = [guess async for guess in predictor.predict(trajectory)]
    return [(guess.action.target.removeprefix(SITE), guess.predictor, guess.rank) for guess in found]  # type: ignore[union-attr]


async def test_the_goal_decides_where_there_is_one() -> None:
    home = walk(menu("/", "Contact", "Jobs", "Tides"))
    found = [guess for guess in await guesses(home, goal="When is high water? See the tides.") if guess[1] == GOAL]
    assert (found[0], len(found)) == (("/tides", GOAL, 1), 3)


async def test_what_was_looked_for_decides_where_there_is_none() -> None:
    home = menu("/", "Contact", "Jobs", "Tides")
    trajectory = [*walk(home), Step(Find("tides at noon"), home)]
    assert ("/tides", HISTORY, 1) in await guesses(trajectory)


async def test_nothing_known_gives_the_links_as_they_stand() -> None:
    assert await guesses(walk(menu("/", "Contact", "Jobs"))) == [("/contact", HISTORY, 1), ("/jobs", HISTORY, 2)]


async def test_links_that_earlier_pages_had_come_last() -> None:
    trajectory = walk(menu("/", "Contact", "Team"), menu("/news", "Contact", "Archive"))
    assert await guesses(trajectory) == [("/archive", HISTORY, 1), ("/contact", HISTORY, 2)]


async def test_a_list_is_worked_through() -> None:
    listing = page("/list", links=5)
    second = page("/page-2", text="Two.")
    there = [*walk(listing), Step(Visit("2"), second)]
    assert await guesses(there) == [("/page-3", NEXT, 2)]
    back = [*there, Step(Back(), listing)]
    assert (await guesses(back))[0] == ("/page-3", NEXT, 1)
    last = [*back, Step(Visit("5"), page("/page-5")), Step(Back(), listing)]
    assert NEXT not in {name for _, name, _ in await guesses(last)}


def test_interest_is_made_of_goal_and_history() -> None:
    listing = page("/list", links=5)
    trajectory = [
        *walk(listing),
        Step(Visit("2"), page("/page-2")),
        Step(Find(" ann  lee "), page("/page-2")),
        Step(More(), page("/page-2")),
    ]
    assert interest("Who is the pilot?", trajectory) == "Who is the pilot? Page 2 ann lee"
    assert interest("", walk(listing)) == ""
