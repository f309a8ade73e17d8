from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise

import pytest

from agent.events import RunEvent
from agent.outcome import path_of
from agent.predictors.baselines import OraclePredictor
from agent.settings import EMBEDDED, load_settings
from agent.target import Answer, Decision
from agent.targets.frontier import Trajectory
from agent.wiring import Mind, answer, open_pool
from browser.action import Action, Search, Visit
from browser.observation import Observation
from browser.slots.pressure import Pressure, PressureLimits
from evals.site import LatencyModel, SiteServer, build_site
from evals.suites.item import Item
from evals.targets import GoldTarget
from speccache.environment import Step
from speccache.events import Event, EventKind
from tests.agent.test_frontier import SITE, page

ROOT = page("/", ("Committees", "/committees"), ("Dates & deadlines", "/dates"), ("News", "/news"), ("Fees", "/fees"))
WEB = {
    f"{SITE}{path}": seen
    for path, seen in {
        "/": ROOT,
        "/committees": page("/committees", ("Chairs", "/committees/chairs"), ("Dates", "/committees/dates")),
        "/committees/chairs": page("/committees/chairs", ("News", "/committees/news")),
        "/dates": page("/dates", ("Paper deadline", "/dates/paper"), ("Fees", "/fees")),
        "/dates/paper": page("/dates/paper"),
        "/news": page("/news", ("Archive", "/news/archive")),
        "/news/archive": page("/news/archive"),
        "/fees": page("/fees", ("Students", "/fees/students")),
        "/fees/students": page("/fees/students"),
        "/gone": page("/moved", ("Chairs", "/committees/chairs"), requested="/gone"),
    }.items()
}
ITEM = Item(id="1", question="Who chairs?", answer="Ada", url="/", golden=(("/committees", "/committees/chairs"),))


async def follow(item: Item, *, error_rate: float = 0.0, seed: int = 0) -> tuple[list[str], Answer, str]:
    """The paths visited after the first page, the answer, and the thought behind it."""
    trajectory: list[Step[Action, Observation]] = [Step(Visit(f"{SITE}/"), ROOT)]
    while True:
        # A target for each turn: it remembers nothing.
        target = GoldTarget(item, address=SITE, error_rate=error_rate, seed=seed)
        decision = await target.decide(item.question, tuple(trajectory))
        if isinstance(decision.action, Answer):
            visited = [str(step.action).removeprefix(f"visit {SITE}") for step in trajectory[1:]]
            assert (await target.conclude(item.question, tuple(trajectory))).action == decision.action
            return visited, decision.action, decision.thought
        assert isinstance(decision.action, Visit)
        trajectory.append(Step(decision.action, WEB[decision.action.target.partition("#")[0]]))


def way(*golden: tuple[str, ...]) -> Item:
    return replace(ITEM, golden=golden)


async def test_it_follows_the_way_and_answers_from_its_end() -> None:
    visited, found, _ = await follow(ITEM)

    assert visited == ["/committees", "/committees/chairs"]
    assert found == Answer(text="Ada", sources=(f"{SITE}/committees/chairs",))


@pytest.mark.parametrize(
    "steps",
    [
        ("/dates", "/dates/paper"),
        (f"{SITE}/dates", f"{SITE}/dates/paper"),
        ("Dates & deadlines", "Paper deadline"),
        ("dates  DEADLINES", "Ｐaper-deadline"),
        ("/", "Dates & deadlines", "/dates/paper#end"),
    ],
)
async def test_a_step_is_an_address_a_path_or_the_text_of_a_link(steps: tuple[str, ...]) -> None:
    visited, found, _ = await follow(way(steps))

    assert [path.partition("#")[0] for path in visited] == ["/dates", "/dates/paper"]
    assert found.sources == (f"{SITE}/dates/paper",)


async def test_several_ways_are_followed_one_after_the_other_and_no_page_is_read_twice() -> None:
    visited, found, _ = await follow(way(("Fees",), ("Dates & deadlines", "Fees"), ("Fees", "Students")))

    assert visited == ["/fees", "/dates", "/fees/students"]
    assert found.sources == (f"{SITE}/fees", f"{SITE}/fees/students")


async def test_a_links_text_means_the_link_of_the_page_before_then_that_of_the_latest_page() -> None:
    ways = way(("Committees", "Chairs", "News"), ("News",), ("Committees", "Dates"))
    WEB[f"{SITE}/committees/news"] = page("/committees/news")
    WEB[f"{SITE}/committees/dates"] = page("/committees/dates")

    visited, _, _ = await follow(ways)
    assert visited == ["/committees", "/committees/chairs", "/committees/news", "/news", "/committees/dates"]


async def test_a_way_may_search_and_go_on_from_the_results() -> None:
    results = page("/search?q=chair", ("Chairs of the committees", "/committees/chairs"))
    item = way(("search:chair of committees", "Chairs of the committees"), ("search:chair of committees", "/fees"))
    target = GoldTarget(item, address=SITE)
    search = Search("chair of committees")

    steps: list[Step[Action, Observation]] = [Step(Visit(f"{SITE}/"), ROOT)]
    assert (await target.decide(item.question, steps)).action == search
    steps.append(Step(search, results))
    for path in ("/committees/chairs", "/fees"):
        assert (await target.decide(item.question, steps)).action == Visit(SITE + path)
        steps.append(Step(Visit(SITE + path), WEB[SITE + path]))
    answered = Answer(text="Ada", sources=(f"{SITE}/committees/chairs", f"{SITE}/fees"))
    assert (await target.decide(item.question, steps)).action == answered
    # A run may begin with the search itself.
    assert (await target.decide(item.question, steps[1:])).action == answered


async def test_an_address_that_led_elsewhere_counts_as_read() -> None:
    visited, found, _ = await follow(way(("/gone", "Chairs"), ("/moved",), ("/gone",)))

    assert visited == ["/gone", "/committees/chairs"]
    assert found.sources == (f"{SITE}/committees/chairs", f"{SITE}/moved")


@pytest.mark.parametrize(
    ("item", "visited", "why"),
    [
        (way(("Committees", "Treasurers")), ["/committees"], "No page seen has the link 'Treasurers'."),
        (way(("/absent",)), ["/absent"], "The way leads to a page that cannot be read. Its status is 404."),
        (way(), [], "No way to the answer is known."),
    ],
)
async def test_what_cannot_be_done_ends_with_an_empty_answer_and_the_reason(
    item: Item, visited: list[str], why: str
) -> None:
    absent = page("/absent")
    WEB[f"{SITE}/absent"] = replace(absent, document=replace(absent.document, status=404))

    assert await follow(item) == (visited, Answer(text=""), why)


async def test_without_a_way_each_source_is_visited() -> None:
    visited, found, _ = await follow(replace(ITEM, golden=(), sources=("/dates", "/fees")))

    assert visited == ["/dates", "/fees"]
    assert found == Answer(text="Ada", sources=(f"{SITE}/dates", f"{SITE}/fees"))


async def test_a_way_that_was_not_finished_gives_no_answer_at_a_limit() -> None:
    decision = await GoldTarget(ITEM, address=SITE).conclude(ITEM.question, (Step(Visit(f"{SITE}/"), ROOT),))

    assert decision.action == Answer(text="")


async def test_with_errors_one_wrong_link_comes_before_a_step_and_the_answer_stays() -> None:
    item = way(("Committees", "Chairs"), ("Dates & deadlines", "/dates/paper"))
    WEB[f"{SITE}/committees/dates"] = page("/committees/dates")
    WEB[f"{SITE}/committees/news"] = page("/committees/news")
    right = (await follow(item))[0]
    visited, found, _ = await follow(item, error_rate=1.0)

    assert found.text == "Ada"
    assert [path for path in visited if path in right] == right
    wrong = [path in right for path in visited]
    assert all(one or other for one, other in pairwise(wrong)), "never two wrong ones in a row"
    assert wrong.count(False) == 3  # nothing else is linked from the page that the last step is taken from
    assert (await follow(item, error_rate=1.0))[0] == visited


async def test_the_error_rate_is_how_often_a_step_goes_wrong_first() -> None:
    runs = [await follow(ITEM, error_rate=0.3, seed=seed) for seed in range(300)]

    wrong = sum(len(visited) - 2 for visited, _, _ in runs)
    # The second step is taken from a page with one other link, so that it can go wrong as well.
    assert wrong / 600 == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_a_rate_that_makes_no_sense_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="error_rate"):
        GoldTarget(ITEM, address=SITE, error_rate=rate)


class Patient:
    """Lets a target decide once all guesses of a turn were made, so that their loads are under way."""

    name = "patient"

    def __init__(self, target: GoldTarget) -> None:
        self._target = target
        self._guessed = asyncio.Event()

    def __call__(self, event: RunEvent) -> None:
        if isinstance(event, Event) and event.kind is EventKind.PREDICT:
            self._guessed.set()

    async def decide(self, question: str, trajectory: Trajectory, /) -> Decision:
        await self._guessed.wait()
        self._guessed.clear()
        return await self._target.decide(question, trajectory)

    async def conclude(self, question: str, trajectory: Trajectory, /) -> Decision:
        return await self._target.conclude(question, trajectory)


async def test_in_a_browser_the_oracle_foresees_every_page_even_those_after_a_wrong_link() -> None:
    site, settings = build_site(), load_settings(target=EMBEDDED, draft="none")
    asked = max((each for each in site.questions if each.lang == "en"), key=lambda each: each.hops)
    item = Item(id=asked.id, question=asked.question, answer=asked.answer, golden=(asked.golden_path,))
    async with SiteServer(site, latency=LatencyModel(time_scale=0)) as server, open_pool(settings) as pool:
        # What else the machine does while the tests run is not what is tested here.
        pool.pressure = Pressure(PressureLimits(loop_lag_seconds=9.0, cpu_share=9.0, memory_share=9.0))
        url = server.url + asked.root_path
        gold = GoldTarget(item, address=server.url, error_rate=0.5)
        off = await answer(item.question, url, mind=Mind(target=gold), settings=settings, pool=pool)
        known = [step.observation.document.requested_url for step in off.trajectory]
        patient = Patient(gold)
        mind = Mind(target=patient, predictors=(OraclePredictor(known),))
        foreseen = await answer(item.question, url, mind=mind, settings=settings, pool=pool, listeners=[patient])
        await pool.pressure.aclose()
    assert off.status == "answered"
    assert off.sources == (server.url + asked.golden_path[-1],)
    assert off.target == "gold (simulated)"
    assert (path_of(off.trajectory), off.answer) == (path_of(foreseen.trajectory), foreseen.answer)
    assert len(known) > 1 + asked.hops, "at least one wrong link was followed"
    account = foreseen.account
    assert (account.hits + account.joins, account.misses) == (len(known) - 1, 1), "only the first page is not foreseen"
