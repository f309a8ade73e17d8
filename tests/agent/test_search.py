"""Searching agents: what they may ask, what is guessed of it, and the same path whether or not it is loaded ahead."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web

from agent import Agent
from agent.errors import ConfigurationError, ModelUnreadable
from agent.events import RunEvent
from agent.outcome import Outcome, path_of
from agent.predictors.draft_predictor import DraftPredictor
from agent.predictors.embedding import Embedder
from agent.predictors.predictor_choice import choose
from agent.predictors.ranker import LinkRanker
from agent.predictors.search_predictor import SearchPredictor
from agent.secret_source import parse_secret
from agent.settings import PredictorName, load_settings
from agent.target import Answer, Decision
from agent.targets.frontier import offered
from agent.targets.model_target import ModelTarget
from agent.targets.searches import names, open_searches
from agent.wiring import Mind, answer, ask, open_mind, open_pool
from browser.action import Action, Search, Visit
from browser.observation import Link, Observation
from browser.pool import BrowserPool
from browser.slots.pressure import Pressure, PressureLimits
from speccache.environment import Step
from speccache.events import Event, EventKind
from speccache.predictor import Predictor
from tests.agent.command import speccache
from tests.agent.pages import SITE, page, walk
from tests.endpoints.connected import connected
from tests.endpoints.scripted import Call, Say, ScriptedEndpoint
from tests.website import Answer as Serve
from tests.website import Website

QUESTION = "In which year did the designer of the Halvern Lighthouse leave Port Castor?"
RANKER = LinkRanker(Embedder())
ARTICLES = {
    "Halvern Lighthouse": "The Halvern Lighthouse was designed by Ines Marl. <a href='/wiki/Ines_Marl'>Ines Marl</a>",
    "Ines Marl": "Ines Marl was an engineer. She left Port Castor in the year 1911.",
    "Port Castor": "Port Castor is a town with a harbour. <a href='/wiki/Harbour'>Harbour</a>",
    "Harbour": "A harbour is a place where ships lie.",
}


async def api(request: web.Request) -> web.Response:
    """Answer as MediaWiki does, with the pages whose title is what is searched for."""
    asked, base = request.query["srsearch"], f"{request.scheme}://{request.host}/wiki/"
    titles = [title for title in ARTICLES if asked == title]
    pages = [
        {"pageid": 1 + at, "index": 1 + at, "title": title, "canonicalurl": base + title.replace(" ", "_")}
        for at, title in enumerate(titles)
    ]
    hits = [{"pageid": page["pageid"], "title": page["title"], "snippet": "An article."} for page in pages]
    found = {"searchinfo": {"totalhits": len(hits)}, "search": hits}
    return web.json_response({"batchcomplete": True, "query": found | ({"pages": pages} if pages else {})})


WIKI: dict[str, str | Serve] = {
    "/w/api.php": api,
    **{
        f"/wiki/{title.replace(' ', '_')}": f"<title>{title}</title><h1>{title}</h1><p>{text}</p>"
        for title, text in ARTICLES.items()
    },
}


@pytest.fixture
async def wiki() -> AsyncIterator[Website]:
    async with Website(WIKI) as website:
        yield website


@pytest.fixture(scope="module")
async def pool() -> AsyncIterator[BrowserPool]:
    async with open_pool(load_settings(target="embedded")) as pool:
        # What else the machine does while the tests run is not what is tested here.
        pool.pressure = Pressure(PressureLimits(loop_lag_seconds=9.0, cpu_share=9.0, memory_share=9.0))
        yield pool
        await pool.pressure.aclose()


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Who founded the Merrowdale Institute?", ["Merrowdale Institute"]),
        ("Who wrote “The Old Man” and what did Ann Lee's mother sing?", ["The Old Man", "Ann Lee"]),
        ("Which of the University of California, Berkeley and Port Castor is older?", None),
        ("How long is the Tarn–Beck railway?", ["Tarn–Beck"]),
        ("Name J. R. R. Tolkien's first publisher in May 1937.", ["J. R. R. Tolkien"]),
        ("How old was Ludwig van Beethoven when Apollo 11 landed?", ["Ludwig van Beethoven", "Apollo 11"]),
        ("《红楼梦》的作者在「大观园」写了什么？", ["红楼梦", "大观园"]),
        ("is there anything?", []),
    ],
)
def test_the_names_of_a_question(question: str, found: list[str] | None) -> None:
    assert list(names(question)) == (
        ["University of California", "Berkeley", "Port Castor"] if found is None else found
    )


async def _guesses(predictor: Predictor[Action, Observation], steps: list[Step[Action, Observation]]) -> list[Action]:
    return [guess.action async for guess in predictor.predict(steps)]


async def test_searches_are_guessed_in_the_order_of_the_question_and_once() -> None:
    steps = walk(page(links=1))
    assert await _guesses(SearchPredictor(QUESTION), steps) == [Search("Halvern Lighthouse"), Search("Port Castor")]
    steps.append(Step(Search("halvern  lighthouse"), page("/s")))
    assert open_searches(QUESTION, steps) == (Search("Port Castor"),)
    assert await _guesses(SearchPredictor(QUESTION), steps) == []  # the results come first
    steps += walk(page("/lighthouse"))
    assert await _guesses(SearchPredictor(QUESTION), steps) == [Search("Port Castor")]


async def test_a_name_whose_page_was_read_is_not_searched_for() -> None:
    steps = walk(page(title="Port Castor, a town"))
    assert await _guesses(SearchPredictor(QUESTION), steps) == [Search("Halvern Lighthouse")]


async def test_of_the_walk_a_search_is_guessed_only_where_no_link_is_left() -> None:
    walking = SearchPredictor(QUESTION, walk=RANKER, max_pages=2)
    assert await _guesses(walking, walk(page(links=1))) == []
    assert await _guesses(walking, walk(page())) == [Search("Halvern Lighthouse"), Search("Port Castor")]
    assert await _guesses(walking, walk(page(), page("/a"))) == []


async def test_searches_are_guessed_beside_links_only_with_an_engine() -> None:
    steps = walk(page(links=2))
    for searching in (False, True):
        chosen = choose(
            PredictorName.RANK, QUESTION, ranker=RANKER, draft=None, max_guesses=3, max_pages=None, searching=searching
        )
        kinds = [type(action) for each in chosen.predictors for action in await _guesses(each, steps)]
        assert kinds == [Visit, Visit, *[Search, Search][: 2 * searching]]


@pytest.mark.parametrize("searching", [False, True])
async def test_a_draft_model_guesses_searches_where_there_is_an_engine(*, searching: bool) -> None:
    async with ScriptedEndpoint([Say('1\nsearch: "Ines Marl"\n- Search: Ines Marl\n2')]) as endpoint:
        async with connected(endpoint) as model:
            guesses = await _guesses(DraftPredictor("Who?", model, searching=searching), walk(page(links=3)))
        told = endpoint.requests[0].body["messages"][0]["content"]
    searches = [Search("Ines Marl")] if searching else []
    assert guesses == [Visit(f"{SITE}/page-1"), *searches, Visit(f"{SITE}/page-2")]
    assert ("search: the words" in told) == searching


async def test_a_model_may_search_only_where_there_is_an_engine() -> None:
    search = Say("", calls=[Call("search", '{"query": "Ines Marl"}')])
    async with ScriptedEndpoint([search, search, search]) as endpoint, connected(endpoint) as model:
        decision = await ModelTarget(model, searching=True).decide("Who?", walk(page()))
        with pytest.raises(ModelUnreadable, match="not among the tools"):
            await ModelTarget(model).decide("Who?", walk(page()))
        bodies = [request.body for request in endpoint.requests]
    assert decision.action == Search("Ines Marl")
    tools = [[tool["function"]["name"] for tool in body["tools"]] for body in bodies]
    assert ["search" in names for names in tools] == [True, False, False]
    assert ["searching and reading" in body["messages"][0]["content"] for body in bodies] == [True, False, False]


def test_links_found_by_a_search_may_leave_the_site() -> None:
    away = [Link(number=1, text="Away", url="https://elsewhere.example/", found=found) for found in (False, True)]
    pages = [Observation(document=replace(page().document, links=(link,)), text="") for link in away]
    assert [len(offered(each)) for each in pages] == [0, 1]


async def test_the_walk_takes_the_same_path_with_searches_loaded_ahead(pool: BrowserPool, wiki: Website) -> None:
    outcomes: list[Outcome] = []
    for speculation in (False, True):
        settings = load_settings(
            target="embedded", draft="none", search=f"mediawiki:{wiki.url}", speculation=speculation, think=0.05
        )
        wiki.asked.clear()
        async with open_mind(settings, QUESTION) as mind:
            outcomes.append(await answer(QUESTION, "", mind=mind, settings=settings, pool=pool))
    off, spec = outcomes
    assert (off.status, off.answer, off.sources) == (spec.status, spec.answer, spec.sources)
    assert "1911" in spec.answer
    assert path_of(off.trajectory) == path_of(spec.trajectory)
    searched = [str(step.action) for step in spec.trajectory if isinstance(step.action, Search)]
    assert searched == [f"search {QUESTION!r}", "search 'Halvern Lighthouse'", "search 'Port Castor'"]
    assert spec.account.hits + spec.account.joins >= 3
    # Whatever was loaded ahead and then used was asked for once.
    asked = [each.path for each in wiki.asked if each.path != "/robots.txt"]
    assert len(asked) == len(set(asked))


class Patient:
    """Searches for a name, once what was guessed of it is loaded, then gives up."""

    name = "patient"

    def __init__(self, loaded: asyncio.Event) -> None:
        self._loaded = loaded

    async def decide(self, question: str, trajectory: Sequence[Step[Action, Observation]], /) -> Decision:
        if len(trajectory) > 1:
            return await self.conclude(question, trajectory)
        await self._loaded.wait()
        return Decision(action=Search(" Halvern  Lighthouse "))

    async def conclude(self, question: str, trajectory: Sequence[Step[Action, Observation]], /) -> Decision:
        return Decision(action=Answer(text=""))


async def test_a_search_loaded_ahead_is_a_hit_and_asked_for_once(pool: BrowserPool, wiki: Website) -> None:
    events: list[Event] = []
    loaded = asyncio.Event()

    def listen(event: RunEvent) -> None:
        if isinstance(event, Event):
            events.append(event)
            if event.kind is EventKind.LOAD and "Halvern" in str(event.action):
                loaded.set()

    settings = load_settings(target="embedded", draft="none", search=f"mediawiki:{wiki.url}")
    mind = Mind(target=Patient(loaded), predictors=(SearchPredictor(QUESTION),))
    start = f"{wiki.url}/wiki/Port_Castor"
    outcome = await answer(QUESTION, start, mind=mind, settings=settings, pool=pool, listeners=[listen])
    assert [link.text for link in outcome.trajectory[1].observation.links] == ["Halvern Lighthouse"]
    assert [event.kind for event in events if event.kind in (EventKind.HIT, EventKind.JOIN)] == [EventKind.HIT]
    assert sum("srsearch=Halvern%20Lighthouse&" in each.path for each in wiki.asked) == 1


async def test_a_run_has_somewhere_to_start(pool: BrowserPool, wiki: Website) -> None:
    settings = load_settings(target="embedded", draft="none", speculation=False, max_turns=1)
    with pytest.raises(ConfigurationError, match="nowhere to start"):
        await ask(QUESTION, "", settings=settings, pool=pool)
    with pytest.raises(ConfigurationError, match="nowhere to start"):
        await Agent(settings, pool).ask(QUESTION)
    searching = load_settings(target="embedded", draft="none", search=f"{wiki.url}/nothing?q={{query}}", max_turns=1)
    outcome = await Agent(searching, pool).ask(QUESTION)
    assert outcome.trajectory[0].action == Search(QUESTION)


async def test_the_command_begins_with_a_search(wiki: Website, tmp_path: Path) -> None:
    words = ["ask", "Port Castor", "--search", f"mediawiki:{wiki.url}", "--max-turns", "3", "--no-trace"]
    result = await speccache(*words, cwd=tmp_path)
    assert (result.code, "Port Castor is a town" in result.out) == (0, True), result.err
    assert f"source: {wiki.url}/wiki/Port_Castor" in result.out


async def test_a_command_without_a_start_is_a_usage_error(tmp_path: Path) -> None:
    result = await speccache("ask", "Who?", "--no-trace", cwd=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert "hint: Name a page with --url URL, or an engine with --search ENGINE." in result.err


def test_what_is_no_engine_is_a_wrong_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match="search is wrong: 'google' is no search engine") as wrong:
        load_settings(search="google")
    assert wrong.value.hint == "Correct it where it is set: --search or SPECCACHE_SEARCH."
    # A file that is found must not decide where questions go.
    (tmp_path / "speccache.toml").write_text('search = "https://evil.example/?q={query}"')
    with pytest.raises(ConfigurationError, match="not read from a file"):
        load_settings()


def test_a_secret_needs_a_host_where_the_run_starts_at_no_page() -> None:
    with pytest.raises(ConfigurationError, match="is for no host") as error:
        parse_secret("PIN=12345").secret("")
    assert error.value.hint == "Name the host: --secret PIN@HOST."
    assert parse_secret("PIN@bank.example=12345").secret("").host == "bank.example"
