from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from statistics import median
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.settings import load_settings
from agent.wiring import open_pool, web_environment
from browser.action import Visit
from browser.environment import WebEnvironment
from browser.observation import Link, Observation
from browser.speculation.gate import refusal
from evals.encyclopaedia import EncyclopaediaServer, SearchIndex, build_encyclopaedia, encyclopaedia_suite
from evals.encyclopaedia.article import MAIN_PAGE, read_text
from evals.encyclopaedia.question import COUNTS, draw_questions
from evals.encyclopaedia.search import CLOSING, OPENING, Findable
from evals.encyclopaedia.world import Entity, Year, number, shown
from evals.site import LatencyModel
from evals.site.latency import ROOT_PERCENTILES
from evals.suites import SEARCH, Item, Suite

ENCYCLOPAEDIA = build_encyclopaedia()
SUITE = encyclopaedia_suite()
OTHER = encyclopaedia_suite(seed=8)
ENTITIES = [entity for members in ENCYCLOPAEDIA.world.entities.values() for entity in members]
BY_PATH = {entity.path: entity for entity in ENTITIES}


def found(query: str) -> list[str]:
    return [hit.path for hit in ENCYCLOPAEDIA.index.search(query).hits]


def linked(path: str) -> set[str]:
    return {link.path for link in ENCYCLOPAEDIA.links(path)}


# The articles.


def test_equal_seeds_give_equal_articles_and_questions_and_others_give_others() -> None:
    assert dict(build_encyclopaedia().pages) == dict(ENCYCLOPAEDIA.pages)
    again = draw_questions(7, ENCYCLOPAEDIA.world)
    assert [drawn.asked.question for drawn in again] == [item.question for item in SUITE.items]
    assert not {item.question for item in OTHER.items} & {item.question for item in SUITE.items}


def test_it_is_as_large_and_as_densely_linked_as_meant() -> None:
    assert len(ENTITIES) >= 600
    counts = [len(linked(entity.path)) for entity in ENTITIES]
    assert median(counts) > 36
    assert min(counts) > 12


def test_every_link_leads_to_a_page_by_a_plain_address() -> None:
    everywhere = {link for path in ENCYCLOPAEDIA.pages for link in ENCYCLOPAEDIA.links(path)}
    everywhere |= {*ENCYCLOPAEDIA.frame.navigation, *ENCYCLOPAEDIA.frame.footer}
    assert {link.path for link in everywhere} <= ENCYCLOPAEDIA.pages.keys()
    assert [link.path for link in everywhere if quote(link.path, safe="/:()'") != link.path] == []


def test_every_link_may_be_opened_ahead_of_time() -> None:
    here = "http://127.0.0.1:8767"
    addresses = {(link.text, here + link.path) for path in ENCYCLOPAEDIA.pages for link in ENCYCLOPAEDIA.links(path)}
    refused = [url for text, url in addresses if refusal(Link(number=1, text=text, url=url), page_url=here + MAIN_PAGE)]
    assert refused == []


def test_every_article_says_its_facts_and_is_on_a_list_and_in_a_category() -> None:
    listed = {link for path in ENCYCLOPAEDIA.pages if "/List_of" in path for link in linked(path)}
    sorted_in = {link for path in ENCYCLOPAEDIA.pages if "/Category:" in path for link in linked(path)}
    for entity in ENTITIES:
        text = read_text(ENCYCLOPAEDIA.pages[entity.path].blocks)
        kind = ENCYCLOPAEDIA.world.kind_of(entity)
        asked = {fact: ENCYCLOPAEDIA.world.follow(entity, fact) for fact in (*kind.values, *kind.asks)}
        assert [fact for fact, found in asked.items() if found and shown(found[0]) not in text] == []
    assert {entity.path for entity in ENTITIES} <= listed & sorted_in


def test_nobody_does_anything_before_they_are_grown_up_or_after_they_are_dead() -> None:
    for entity in ENTITIES:
        people = [fact for fact in entity.facts.values() if isinstance(fact, Entity) and "born" in fact.facts]
        named_after = entity.facts.get("honours")
        years = [fact for fact in entity.facts.values() if isinstance(fact, Year)]
        for person in people:
            if person is not named_after:
                assert all(number(person, "born") + 20 < year <= number(person, "died") for year in years), entity


# Searching.


@given(
    st.text()
    | st.sampled_from(['"', "NEAR(a b", "title:x", "a AND", "* OR -", "_", "\ud800", "x" * 10_000, "word " * 5_000])
)
def test_no_query_fails(query: str) -> None:
    answer = ENCYCLOPAEDIA.index.search(query)
    assert len(answer.hits) <= min(10, answer.total)


def test_a_word_in_the_title_counts_most_and_empty_words_only_where_there_are_no_others() -> None:
    articles = [
        Findable(title="Harlow Bridge", path="/a", text="It is long."),
        Findable(title="The River", path="/b", text="The river runs under the Harlow Bridge and the old bridge."),
        Findable(title="A Town", path="/c", text="The town has bridges."),
    ]
    index = SearchIndex(articles, stop_words=["the", "is"])
    assert [hit.path for hit in index.search("the Harlow bridge").hits] == ["/a", "/b", "/c"]
    assert [hit.path for hit in index.search("the HARLOW").hits] == ["/a", "/b"]
    assert {hit.path for hit in index.search("the").hits} == {"/b", "/c"}
    (hit,) = index.search("runs").hits
    assert hit.marked == f"The river {OPENING}runs{CLOSING} under the Harlow Bridge and the old bridge."
    assert hit.snippet == articles[1].text
    index.close()
    index.close()


def test_results_come_page_by_page_and_bounds_are_kept() -> None:
    index = ENCYCLOPAEDIA.index
    pages = [index.search("bridge", offset=offset).hits for offset in (0, 10, 20)]
    assert len({hit.path for page in pages for hit in page}) == 30
    assert index.search("bridge", limit=-5).hits == pages[0][:1]
    assert index.search("bridge", offset=10**12).hits == ()
    assert index.search("bridge", offset=-1).hits == pages[0]


# The questions.


def test_questions_stand_on_as_many_articles_as_those_of_frames() -> None:
    assert Counter(len(item.sources) for item in SUITE.items) == COUNTS
    assert sum(COUNTS.values()) == 120
    assert len({item.question for item in SUITE.items}) == len({item.id for item in SUITE.items}) == 120
    assert {part for item in SUITE.items for part in item.domain.split(" | ")} == {
        "Multiple constraints",
        "Numerical reasoning",
        "Tabular reasoning",
        "Temporal reasoning",
    }
    assert Counter(item.difficulty for item in SUITE.items) == {"easy": 45, "medium": 62, "hard": 13}


@pytest.mark.parametrize("suite", [SUITE, OTHER], ids=["seed 7", "seed 8"])
def test_every_way_can_be_gone(suite: Suite) -> None:
    """Each article is found by searching, or linked on the page before; the first may be found by the question."""
    encyclopaedia = ENCYCLOPAEDIA if suite is SUITE else build_encyclopaedia(8)
    for item in suite.items:
        offered = {hit.path for hit in encyclopaedia.index.search(item.question).hits}
        for way, source in zip(item.golden, item.sources, strict=True):
            assert way[-1] == source
            if len(way) > 1:
                offered = {hit.path for hit in encyclopaedia.index.search(way[0].removeprefix(SEARCH)).hits}
            assert source in offered, item
            offered = {link.path for link in encyclopaedia.links(source)}


def test_what_is_searched_for_stands_in_the_question_or_on_a_page_before() -> None:
    for item in SUITE.items:
        known = item.question
        for way in item.golden:
            query = way[0].removeprefix(SEARCH)
            assert len(way) == 1 or query in known or query.startswith("list of "), item
            known += read_text(ENCYCLOPAEDIA.pages[way[-1]].blocks)


def test_some_articles_are_named_only_by_others() -> None:
    unnamed = [
        item
        for item in SUITE.items
        if any(source in BY_PATH and BY_PATH[source].name not in item.question for source in item.sources)
    ]
    assert len(unnamed) > 70
    bridged = [item for item in unnamed if set(item.sources) - {*found(item.question)}]
    assert len(bridged) > 50


def test_an_answer_that_an_article_gives_stands_on_the_last_one() -> None:
    """The others are computed: the arithmetic of each is done here again, from what the articles say."""
    for item in SUITE.items:
        last = read_text(ENCYCLOPAEDIA.pages[item.sources[-1]].blocks)
        names = {BY_PATH[source].name for source in item.sources if source in BY_PATH}
        computed = item.question.startswith(("What is the sum", "What is the difference", "How many years passed"))
        assert computed or item.answer in names or item.answer in last, item


@pytest.mark.parametrize(
    ("opening", "combine"),
    [("What is the sum", sum), ("What is the difference", lambda numbers: abs(numbers[0] - numbers[1]))],
)
def test_computed_answers_are_right(opening: str, combine: Any) -> None:
    """Where all articles are asked for by name, their own numbers give the answer."""
    named = [item for item in SUITE.items if item.question.startswith(opening) and item.domain == "Numerical reasoning"]
    assert named
    for item in named:
        entities = [BY_PATH[source] for source in item.sources]
        values = ENCYCLOPAEDIA.world.kind_of(entities[0]).values
        assert item.answer in {shown(combine([number(each, fact) for each in entities])) for fact in values}


# The server.


@pytest.fixture(scope="module")
async def server() -> AsyncIterator[EncyclopaediaServer]:
    async with EncyclopaediaServer(ENCYCLOPAEDIA, time_scale=0) as server:
        yield server


@pytest.fixture
async def client(server: EncyclopaediaServer) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(server.url) as session:
        yield session


async def ask(client: aiohttp.ClientSession, path: str, **parameters: str) -> Any:
    async with client.get(path, params=parameters) as response:
        assert response.status == 200
        return await response.json()


async def test_all_shapes_of_search_say_the_same(client: aiohttp.ClientSession) -> None:
    query = "1837 expedition"
    expected = found(query)
    base = str(client._base_url).rstrip("/")
    searxng = await ask(client, "/search", q=query, format="json")
    assert [each["url"] for each in searxng["results"]] == [base + path for path in expected]
    assert searxng["number_of_results"] > 10
    asked = {"action": "query", "format": "json"}
    listed = await ask(client, "/w/api.php", **asked, list="search", srsearch=query)
    assert "searchmatch" in listed["query"]["search"][0]["snippet"]
    assert listed["continue"]["sroffset"] == 10
    generated = await ask(client, "/w/api.php", **asked, generator="search", gsrsearch=query, prop="info", inprop="url")
    pages = sorted(generated["query"]["pages"].values(), key=lambda page: page["index"])
    assert [page["fullurl"] for page in pages] == [each["url"] for each in searxng["results"]]
    assert [page["title"] for page in pages] == [each["title"] for each in listed["query"]["search"]]
    both = {"list": "search", "generator": "search", "srsearch": query, "gsrsearch": query, "formatversion": "2"}
    answer = await ask(client, "/w/api.php", **asked, **both)
    assert answer["query"]["pages"] == pages
    assert answer["query"]["search"] == listed["query"]["search"]


async def test_mediawiki_says_what_it_does_not_know(client: aiohttp.ClientSession) -> None:
    assert (await ask(client, "/w/api.php", action="edit"))["error"]["code"] == "badvalue"
    assert (await ask(client, "/w/api.php", action="query", list="search"))["error"]["code"] == "missingparam"
    nothing = await ask(client, "/w/api.php", action="query", list="search", srsearch="?!", srlimit="max")
    assert nothing == {"batchcomplete": "", "query": {"searchinfo": {"totalhits": 0}, "search": []}}


async def test_searxng_has_further_pages(client: aiohttp.ClientSession) -> None:
    first = await ask(client, "/search", q="bridge", format="json")
    second = await ask(client, "/search", q="bridge", format="json", pageno="2")
    assert first["results"][0]["url"] not in {each["url"] for each in second["results"]}


async def test_what_is_not_there_is_a_404(client: aiohttp.ClientSession) -> None:
    for path, status in (("/wiki/Nowhere", 404), ("/api/pages/wiki/Nowhere", 404), ("/", 200), ("/search", 200)):
        async with client.get(path) as response:
            assert (path, response.status) == (path, status)


def test_a_search_takes_as_long_as_a_sub_page_and_the_main_page_as_a_root() -> None:
    server = EncyclopaediaServer(ENCYCLOPAEDIA, time_scale=1)
    assert isinstance(server._latency, LatencyModel)
    assert 3 <= server._latency.page_seconds("/search?q=harlow+bridge") <= 63
    assert server._latency.roots == {MAIN_PAGE}
    assert server._latency.page_seconds(MAIN_PAGE) <= ROOT_PERCENTILES[-1][1]


# In the browser.


@pytest.fixture(scope="module")
async def web(server: EncyclopaediaServer) -> AsyncIterator[WebEnvironment]:
    settings = load_settings(speculation=False)
    async with open_pool(settings) as pool:
        environment = web_environment(settings, pool, server.url)
        yield environment
        await environment.aclose()


async def read(web: WebEnvironment, server: EncyclopaediaServer, path: str) -> Observation:
    return await web.step(Visit(server.url + path))


def offered(page: Observation, server: EncyclopaediaServer) -> set[str]:
    return {link.url.removeprefix(server.url) for link in page.links}


def sample() -> list[Item]:
    """A question on two articles, one on three, and one whose way has a second search."""
    by_size = {len(item.sources): item for item in SUITE.items if len(item.sources) <= 3}
    searched = next(item for item in SUITE.items if len(item.golden[1]) == 2)
    return [*by_size.values(), searched]


@pytest.mark.parametrize("item", sample(), ids=lambda item: item.id)
async def test_a_way_can_be_gone_in_the_browser(web: WebEnvironment, server: EncyclopaediaServer, item: Item) -> None:
    page = await read(web, server, f"/search?q={quote(item.question)}")
    for way in item.golden:
        if len(way) > 1:
            page = await read(web, server, f"/search?q={quote(way[0].removeprefix(SEARCH))}")
            assert "Results 1 to" in page.text
        assert way[-1] in offered(page, server)
        page = await read(web, server, way[-1])
        assert page.document.status == 200
        assert page.document.problem is None
    texts = read_text(ENCYCLOPAEDIA.pages[item.sources[-1]].blocks)
    assert texts.splitlines()[0].split()[-1] in page.text


async def test_results_and_articles_have_the_links_of_the_content(
    web: WebEnvironment, server: EncyclopaediaServer
) -> None:
    results = await read(web, server, "/search?q=bridge&offset=10")
    assert {hit.path for hit in ENCYCLOPAEDIA.index.search("bridge", offset=10).hits} <= offered(results, server)
    assert {"/search?q=bridge", "/search?q=bridge&offset=20"} <= offered(results, server)
    path = next(entity.path for entity in ENTITIES if entity.kind == "town")
    assert linked(path) <= offered(await read(web, server, path), server)


async def test_the_suite_serves_the_site_that_its_questions_are_about() -> None:
    assert SUITE.serve is not None
    async with SUITE.serve(0.0) as addresses, aiohttp.ClientSession() as session, asyncio.timeout(10):
        address = SUITE.search.format(site=addresses["encyclopaedia"], query="bridge")
        async with session.get(address) as response:
            assert response.status == 200
    assert {item.site for item in SUITE.items} == set(addresses)
    assert {item.url for item in SUITE.items} == {""}
