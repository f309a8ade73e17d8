"""Searching: each engine against a server that answers as it does, results as pages like any other, loads ahead."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from browser import Back, Click, Document, Find, Link, Observation, Search, Timings, Visit
from browser.environment import WebEnvironment
from browser.pool import BrowserPool, PoolOptions
from browser.search.engine_name import parse_engine
from browser.search.query_url import QueryUrl
from speccache.errors import Unspeculable
from tests.conformance import check_law
from tests.website import Answer, Website

ARTICLES = {
    1208: ("Ada Lovelace", 'An English <span class="searchmatch">mathematician</span> &amp; writer'),
    77: ("Analytical Engine", "A proposed computer"),
    3: ("Mathematician", "Somebody who &lt;b&gt;counts&lt;/b&gt; [Home][1]"),
}
RANKED = (3, 1208, 77)


def wiki_answer(base: str, query: str) -> dict[str, Any]:
    """What `action=query&list=search&generator=search&prop=info&inprop=url&formatversion=2` answers."""
    if query == "nothing":
        info = {"totalhits": 0, "suggestion": "noting", "suggestionsnippet": "<em>noting</em>"}
        return {"batchcomplete": True, "query": {"searchinfo": info, "search": []}}
    hits = [{"ns": 0, "title": ARTICLES[key][0], "pageid": key, "snippet": ARTICLES[key][1]} for key in RANKED]
    pages = [
        {
            "pageid": key,
            "ns": 0,
            "title": ARTICLES[key][0],
            "index": RANKED.index(key) + 1,
            "contentmodel": "wikitext",
            "pagelanguage": "en",
            "fullurl": f"{base}/wiki/{ARTICLES[key][0].replace(' ', '_')}",
            "editurl": f"{base}/w/index.php?title={ARTICLES[key][0].replace(' ', '_')}&action=edit",
            "canonicalurl": f"{base}/wiki/{ARTICLES[key][0].replace(' ', '_')}",
        }
        for key in sorted(ARTICLES)
    ]
    return {
        "batchcomplete": True,
        "continue": {"sroffset": 10, "gsroffset": 10, "continue": "gsroffset||"},
        "query": {"searchinfo": {"totalhits": 3}, "search": hits, "pages": pages},
    }


async def answer_as_wiki(request: web.Request) -> web.Response:
    asked = request.query
    assert (asked["srsearch"], asked["list"], asked["generator"]) == (asked["gsrsearch"], "search", "search")
    base = f"{request.scheme}://{request.host}"
    headers = {"Cache-Control": "private, must-revalidate, max-age=0", "Vary": "Accept-Encoding,Cookie"}
    return web.json_response(wiki_answer(base, asked["srsearch"]), headers=headers)


def searx_answer(rows: Sequence[Mapping[str, object]], **others: object) -> dict[str, object]:
    results = [{"engine": "wikipedia", "score": 1.0, "category": "general", **row} for row in rows]
    empty: dict[str, object] = {"answers": [], "corrections": [], "infoboxes": [], "suggestions": []}
    return {"query": "q", "number_of_results": 0, "results": results, **empty, "unresponsive_engines": [], **others}


async def answer_as_searx(request: web.Request) -> web.Response:
    assert request.query["format"] == "json"
    others = f"http://localhost:{request.url.port}"
    broken = {"forbidden": 403, "limited": 429}.get(request.query["q"])
    if broken:
        return web.Response(status=broken, text="<h1>Forbidden</h1>", content_type="text/html")
    match request.query["q"]:
        case "cut":
            return web.Response(text='{"results": [', content_type="application/json")
        case "list":
            return web.json_response([1, 2])
        case "nothing":
            return web.json_response(searx_answer([], unresponsive_engines=[["bing", "timeout"]]))
        case "strange":
            odd: list[object] = [
                {"url": "javascript:alert(1)", "title": "script"},
                {"url": f"{others}/there", "title": "<img src=x onerror=alert(1)> [Home][7]", "content": "</li><h1>x"},
                {"url": f"{others}/there#part", "title": "the same again"},
                {"url": "http://10.0.0.1/inside", "title": "Inside \u202etxt"},
                {"url": None, "title": 3},
                "no row",
            ]
            return web.json_response({**searx_answer([]), "results": odd})
    rows = [
        {"url": f"{others}/there", "title": "There", "content": "a page\nof another site"},
        {"url": "https://elsewhere.example/", "title": "Elsewhere"},
        {"url": f"http://127.0.0.1:{request.url.port}/logout", "title": "Account"},
    ]
    return web.json_response(searx_answer(rows))


async def answer_as_site(request: web.Request) -> web.Response:
    text = f"<title>Found</title><h1>Found: {request.query['q']}</h1><a href='/a'>Alpha</a>"
    script = "<script>localStorage.setItem('last', location.search)</script>"
    port = request.url.port
    text += f"<a href='http://localhost:{port}/there'>There</a><a href='https://elsewhere.example/'>Out</a>{script}"
    return web.Response(text=text, content_type="text/html")


PAGES: dict[str, str | Answer] = {
    "/": "<title>Start</title><p>start</p><a href='/a'>Alpha</a> <a href='https://elsewhere.example/'>Out</a>",
    "/a": "<title>A</title><p>alpha</p><script>document.body.append(localStorage.getItem('last') ?? 'none')</script>",
    "/there": "<title>There</title><p>the page found</p>",
    "/wiki/Ada_Lovelace": "<title>Ada Lovelace</title><p>Born in 1815.</p>",
    "/wiki/Mathematician": "<title>Mathematician</title><p>One who counts.</p>",
    "/w/api.php": answer_as_wiki,
    "/search": answer_as_searx,
    "/find": answer_as_site,
}
ENGINES = {"mediawiki": "mediawiki:{}", "searxng": "searxng:{}/", "site": "{}/find?q={{query}}"}


@pytest.fixture
async def site() -> AsyncIterator[Website]:
    async with Website(PAGES) as website:
        yield website


@pytest.fixture(scope="module")
async def pool() -> AsyncIterator[BrowserPool]:
    async with BrowserPool(PoolOptions(speculation_slots=2)) as opened:
        yield opened
        assert "foreground=0 leased=0" in repr(opened)


def environment(pool: BrowserPool, site: Website, kind: str, *named_hosts: str) -> WebEnvironment:
    return WebEnvironment(pool, named_hosts=named_hosts, search=parse_engine(ENGINES[kind].format(site.url)))


def untimed(observation: Observation) -> Observation:
    return replace(observation, document=replace(observation.document, timings=Timings(), headers={}))


async def searched(pool: BrowserPool, site: Website, kind: str, query: str) -> Observation:
    web_environment = environment(pool, site, kind)
    try:
        return await web_environment.step(Search(query))
    finally:
        await web_environment.aclose()


async def test_a_wiki_is_searched_and_a_result_visited(pool: BrowserPool, site: Website) -> None:
    web_environment = environment(pool, site, "mediawiki")
    seen = await web_environment.step(Search("  ada   lovelace "))
    assert seen.text == (
        "# Search results for 'ada lovelace'\n\n"
        "1. [Mathematician][1]  \n   Somebody who <b>counts</b> [Home] [1]\n"
        "2. [Ada Lovelace][2]  \n   An English mathematician & writer\n"
        "3. [Analytical Engine][3]  \n   A proposed computer"
    )
    assert [(link.text, link.context, link.found) for link in seen.links][1] == (
        "Ada Lovelace",
        "An English mathematician & writer",
        True,
    )
    assert (await web_environment.step(Visit("2"))).title == "Ada Lovelace"
    assert (await web_environment.step(Back())).text == seen.text
    assert "can only be read" in (await web_environment.step(Click("2"))).text
    assert "occur" in (await web_environment.step(Find("zebra"))).text
    await web_environment.aclose()


async def test_the_address_of_a_search_is_the_search(pool: BrowserPool, site: Website) -> None:
    web_environment = environment(pool, site, "mediawiki")
    by_address = Visit(parse_engine(ENGINES["mediawiki"].format(site.url)).url("ada"))
    assert (
        web_environment.key(Search("ada")) == web_environment.key(Search(" ada\n")) == web_environment.key(by_address)
    )
    without_engine = WebEnvironment(pool, named_hosts={"127.0.0.1"})
    # What another run has kept under the address, as JSON, is not what is seen here.
    assert without_engine.key(by_address) not in (None, web_environment.key(by_address))
    await without_engine.aclose()
    assert web_environment.key(Search("Ada")) != web_environment.key(Search("ada"))
    assert untimed(await web_environment.step(by_address)) == untimed(await web_environment.step(Search("ada")))
    await web_environment.aclose()


@pytest.mark.parametrize("kind", ENGINES)
async def test_a_search_keeps_the_law(pool: BrowserPool, site: Website, kind: str) -> None:
    async def fresh() -> WebEnvironment:
        web_environment = environment(pool, site, kind, "localhost")
        await web_environment.step(Visit(site.url + "/"))
        return web_environment

    then = [Visit("1"), Search("other"), Back()]
    await check_law(fresh, first=Search("ada"), then=then, same=untimed)


async def test_results_on_another_site_are_loaded_ahead(pool: BrowserPool, site: Website) -> None:
    web_environment = environment(pool, site, "searxng", "localhost")
    start = await web_environment.step(Visit(site.url + "/"))
    assert web_environment.refusal(Visit("https://elsewhere.example/"), start) == "off-site"
    assert web_environment.refusal(Search("ada"), start) is None
    results = await web_environment.peek(Search("ada"))
    # From a page of results that was itself only loaded ahead, and then from the one stood on.
    found = f"http://localhost:{site.url.rpartition(':')[2]}/there"
    assert web_environment.refusal(Visit(found), results) is None
    assert (await web_environment.peek(Visit(found))).title == "There"
    await web_environment.adopt(Search("ada"), results)
    assert [web_environment.refusal(Visit(link.url), results) for link in results.links] == [None, None, "effect-path"]
    there = await web_environment.peek(Visit("1"))
    await web_environment.adopt(Visit("1"), there)
    assert (there.title, site.count("/there"), site.count("/search?format=json&q=ada")) == ("There", 2, 1)
    await web_environment.aclose()


async def test_what_robots_forbid_is_not_loaded_ahead(pool: BrowserPool) -> None:
    async def rules(_: web.Request) -> web.Response:
        return web.Response(text="User-agent: *\nDisallow: /search\nDisallow: /there")

    async with Website({**PAGES, "/robots.txt": rules}) as site:
        web_environment = environment(pool, site, "searxng", "localhost")
        results = await web_environment.step(Search("ada"))
        assert web_environment.refusal(Visit("1"), results) is None  # its site's rules are not known yet
        with pytest.raises(Unspeculable, match="robots"):
            await web_environment.peek(Visit("1"))
        with pytest.raises(Unspeculable, match="robots"):
            await web_environment.peek(Search("other"))
        assert (await web_environment.step(Visit("1"))).title == "There"
        await web_environment.aclose()


async def test_a_private_result_is_opened_only_where_its_host_was_named(pool: BrowserPool, site: Website) -> None:
    web_environment = environment(pool, site, "searxng")
    results = await web_environment.step(Search("ada"))
    assert [link.found for link in results.links] == [False, True, True]
    assert web_environment.refusal(Visit("1"), results) == "private-address"
    assert "private address that you did not name" in (await web_environment.step(Visit("1"))).text
    assert site.count("/there") == 0
    await web_environment.aclose()


async def test_what_an_answer_holds_stays_text(pool: BrowserPool, site: Website) -> None:
    seen = await searched(pool, site, "searxng", "strange")
    assert [link.url.partition("//")[2].partition("/")[2] for link in seen.links] == ["there", "inside"]
    assert "1. [<img src=x onerror=alert(1)> [Home] [7]][1]  \n   </li><h1>x\n2. [Inside txt][2]" in seen.text
    assert seen.text.count("][1]") == 1


async def test_a_search_in_vain_is_told_in_a_sentence(pool: BrowserPool, site: Website) -> None:
    told = {
        "cut": "its answer is no JSON object",
        "list": "its answer is no JSON object",
        "forbidden": "The search engine 127.0.0.1 found nothing for 'forbidden': it answered with HTTP status 403.",
        "nothing": "Nothing was found for 'nothing'. Not all engines answered: bing.",
    }
    web_environment = environment(pool, site, "searxng")
    for query, says in told.items():
        seen = await web_environment.step(Search(query))
        assert says in seen.text
        assert (seen.links, seen.document.problem is None) == ((), query == "nothing")
    await web_environment.aclose()


WIKI_ANSWERS = {
    "busy": (
        {"error": {"code": "cirrussearch-backend-error", "info": "Search is busy."}},
        "for 'busy': Search is busy.",
    ),
    "denied": ({"error": {"code": "readapidenied"}}, "readapidenied"),
    "empty": ({}, "its answer holds no search"),
    "wrong": ({"query": {"search": "?", "pages": [{"pageid": [], "title": 1}, 2]}}, "Nothing was found"),
    "old": (
        {"query": {"pages": {"5": {"pageid": 5, "index": "?", "title": "T", "fullurl": "//h.example/T"}}}},
        "[T][1]",
    ),
    "nothing": (wiki_answer("", "nothing"), "Nothing was found for 'nothing'. Did you mean 'noting'?"),
}


async def test_whatever_a_wiki_answers_is_read(pool: BrowserPool) -> None:
    async def api(request: web.Request) -> web.Response:
        return web.json_response(WIKI_ANSWERS[request.query["srsearch"]][0])

    async with Website({"/w/api.php": api}) as site:
        web_environment = environment(pool, site, "mediawiki")
        for query, (_, says) in WIKI_ANSWERS.items():
            assert says in (await web_environment.step(Search(query))).text
        await web_environment.aclose()


async def test_a_failed_search_is_not_kept(pool: BrowserPool, site: Website) -> None:
    web_environment = environment(pool, site, "searxng")
    await web_environment.step(Visit(site.url + "/"))
    with pytest.raises(Unspeculable, match="failed"):
        await web_environment.peek(Search("cut"))
    await web_environment.aclose()


async def test_without_an_engine_or_words_nothing_is_asked(pool: BrowserPool, site: Website) -> None:
    web_environment = WebEnvironment(pool, named_hosts={"127.0.0.1"})
    await web_environment.step(Visit(site.url + "/"))
    assert web_environment.key(Search("ada")) is None
    assert "No search engine is set" in (await web_environment.step(Search("ada"))).text
    with pytest.raises(Unspeculable):
        await web_environment.peek(Search("ada"))
    await web_environment.aclose()
    assert "no words" in (await searched(pool, site, "searxng", " \n")).text


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://a.test/s?q={query}&l=en", "https://a.test/s?q=a%26%20b&l=en"),
        ("a.test/{query}", "https://a.test/a%26%20b"),
        ("searxng:https://s.test/", "https://s.test/search?format=json&q=a%26%20b"),
        ("SearXNG: s.test/x/search", "https://s.test/x/search?format=json&q=a%26%20b"),
    ],
)
def test_engines_by_their_names(text: str, url: str) -> None:
    assert parse_engine(text).url("a&  b") == url


@pytest.mark.parametrize(
    ("address", "api"),
    [
        ("en.wikipedia.org", "https://en.wikipedia.org/w/api.php"),
        ("https://w.test/wiki/Main_Page", "https://w.test/w/api.php"),
        ("https://w.test/mw/api.php?action=help", "https://w.test/mw/api.php"),
        ("http://127.0.0.1:81/kb/", "http://127.0.0.1:81/kb/api.php"),
    ],
)
def test_where_the_api_of_a_wiki_is(address: str, api: str) -> None:
    assert parse_engine(f"mediawiki:{address}").url("x").partition("?")[0] == api


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("google", "it has no {query}"),
        ("https://{query}.test/", "stands in its host"),
        ("ftp://a.test/{query}", "only http and https"),
        ("mediawiki:", "no search engine"),
        ("mediawiki:https://[x", "no search engine"),
    ],
)
def test_what_is_no_engine_is_refused_with_the_way_to_write_one(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=r"write it as https://example\.org/search") as error:
        parse_engine(text)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://www.example.org/find/?q=ada&page=1", True),
        ("https://example.org/wiki/Ada_Lovelace", False),
        ("https://elsewhere.example/find?q=ada", False),
    ],
)
def test_only_links_of_a_page_of_results_are_found(url: str, found: bool) -> None:
    engine = parse_engine("https://example.org/find?q={query}")
    link = Link(number=1, text="Out", url="https://out.example/")
    page = engine.results(Document(requested_url=engine.url("ada"), url=url, links=(link,)))
    assert [each.found for each in page.links] == [found]


@given(st.text(), st.sampled_from(["https://a.test/s?q={query}", "https://a.test/{query}/x?again={query}"]))
def test_an_address_says_what_it_asks(query: str, template: str) -> None:
    address = QueryUrl(template)
    sent = " ".join(query.encode("utf-8", "replace").decode().split())
    assert address.asked(address.url(query)) == sent or sent in (".", "..")
    assert address.asked("https://a.test/s?q=a&page=2") is None
