"""The web as an environment: the law, the safety of a peek, and what happens when a browser dies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace

import pytest
from aiohttp import web

from browser import Back, Find, More, Observation, Timings, Visit
from browser.environment import WebEnvironment
from browser.errors import SlotCrashed
from browser.pool import BrowserPool, PoolOptions
from speccache.errors import Unspeculable
from tests.conformance import check_law
from tests.processes import browsers, kill_browsers
from tests.website import Website


async def set_cookie(_: web.Request) -> web.Response:
    response = web.Response(text="<p>signed in</p>", content_type="text/html")
    response.set_cookie("session", "abc")
    return response


async def show_cookie(request: web.Request) -> web.Response:
    return web.Response(text=f"<p>cookie: {request.cookies.get('session')}</p>", content_type="text/html")


async def leave(_: web.Request) -> web.Response:
    raise web.HTTPFound("http://localhost:1/")


async def moved(_: web.Request) -> web.Response:
    raise web.HTTPMovedPermanently("/a")


async def pdf(_: web.Request) -> web.Response:
    return web.Response(body=b"%PDF-1.4", content_type="application/pdf")


PAGES = {
    "/": """<title>Start</title><h1>Start</h1><a href="/a">Alpha</a> <a href="/b">Beta</a> <a href="/b">Beta</a>
        <a href="/same">Twin</a> <a href="/other">Twin</a> <a href="/logout">Log out</a> <a href="#/route">Route</a>
        <a href="http://10.0.0.1/">inside</a> <a href="/post">Poster</a> <a href="/missing">Missing</a>""",
    "/a": "<title>A</title><p>alpha text</p><a href='/b'>Beta</a>",
    "/b": "<title>B</title><p>beta text</p>" + "".join(f"<p>paragraph {n} of a long page</p>" for n in range(400)),
    "/post": "<p>posts</p><script>fetch('/effect', {method: 'POST'}); navigator.sendBeacon('/beacon', 'x')</script>",
    "/popup": "<p>pops</p><script>window.open('/popped')</script>",
    "/member": set_cookie,
    "/cookie": show_cookie,
    "/leave": leave,
    "/old": moved,
    "/pdf": pdf,
    "/dialog": "<p>asks</p><script>alert('hello')</script>",
}


@pytest.fixture
async def site() -> AsyncIterator[Website]:
    async with Website(PAGES) as website:
        yield website


@pytest.fixture(scope="module")
async def pool() -> AsyncIterator[BrowserPool]:
    async with BrowserPool(PoolOptions(speculation_slots=2)) as opened:
        yield opened
        assert "foreground=0 leased=0" in repr(opened)


@pytest.fixture
async def web_environment(pool: BrowserPool) -> AsyncIterator[WebEnvironment]:
    environment = WebEnvironment(pool, named_hosts={"127.0.0.1"}, part_chars=2000)
    yield environment
    await environment.aclose()


async def test_after_a_hit_the_live_page_is_the_one_a_miss_would_have_left(
    pool: BrowserPool, web_environment: WebEnvironment, site: Website
) -> None:
    await web_environment.step(Visit(site.url + "/"))
    observation = await web_environment.peek(Visit("/a"))
    await web_environment.adopt(Visit("/a"), observation)
    assert site.count("/a") == 1
    page = await web_environment.live()
    assert (page.url, await page.title(), site.count("/a")) == (site.url + "/a", "A", 2)
    assert await web_environment.live() is page
    assert site.count("/a") == 2
    assert page.context.browser is not None
    await web_environment.step(Back())
    assert (await web_environment.live()).url == site.url + "/"


def untimed(observation: Observation) -> Observation:
    return replace(observation, document=replace(observation.document, timings=Timings(), headers={}))


@pytest.mark.parametrize("then", [[Visit("Beta"), More(), Back(), Find("alpha")], [Back(), Visit("2")]])
async def test_the_web_keeps_the_law(pool: BrowserPool, site: Website, then: list[Visit]) -> None:
    async def fresh() -> WebEnvironment:
        environment = WebEnvironment(pool, named_hosts={"127.0.0.1"}, part_chars=2000)
        await environment.step(Visit(site.url + "/"))
        return environment

    await check_law(fresh, first=Visit("Alpha"), then=then, same=untimed)


async def test_links_go_by_number_text_and_address(web_environment: WebEnvironment, site: Website) -> None:
    start = await web_environment.step(Visit(site.url + "/"))
    assert [link.text for link in start.links[:3]] == ["Alpha", "Beta", "Twin"]
    keys = {web_environment.key(Visit(target)) for target in ("1", "[1]", "alpha", " Alpha ", "/a", site.url + "/a#x")}
    assert len(keys) == 1
    assert web_environment.key(Visit("Beta")) == web_environment.key(Visit("2"))
    assert web_environment.key(Visit("Route")) != web_environment.key(Visit("/"))
    for unknown in ("99", "Twin", "Nothing"):
        assert web_environment.key(Visit(unknown)) is None
        assert "use its number" in (await web_environment.step(Visit(unknown))).text
    assert (await web_environment.step(Visit("1"))).title == "A"


async def test_back_more_and_find(web_environment: WebEnvironment, site: Website) -> None:
    assert "no page to go back" in (await web_environment.step(Back())).text
    await web_environment.step(Visit(site.url + "/"))
    first = await web_environment.step(Visit("/b"))
    assert (first.part, first.parts > 2) == (1, True)
    second = await web_environment.step(More())
    assert second.part == 2
    assert second.text != first.text
    found = await web_environment.step(Find("PARAGRAPH 399"))
    assert "paragraph 399 of a long page" in found.text
    assert "does not occur" in (await web_environment.step(Find("zebra"))).text
    assert (await web_environment.step(Back())).title == "Start"
    assert site.count("/") == 1


async def test_addresses_that_must_not_be_opened(web_environment: WebEnvironment, site: Website) -> None:
    await web_environment.step(Visit(site.url + "/"))
    for target in ("file:///etc/hostname", "chrome://version", "inside"):
        observation = await web_environment.step(Visit(target))
        assert "was not opened" in str(observation.document.problem)
        await web_environment.step(Back())
    redirected = await web_environment.step(Visit("/leave"))
    assert redirected.document.problem is not None


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/logout", "effect-path"),
        ("/missing", "status-404"),
        ("/post", "sends-post"),
        ("/member", "sets-cookie"),
        ("/leave", "private-address"),
        ("/pdf", "failed"),
        ("/dialog", "page-event"),
        ("/popup", "opens-window"),
        ("http://elsewhere.example/", "off-site"),
    ],
)
async def test_a_peek_keeps_nothing_that_had_effects(
    web_environment: WebEnvironment, site: Website, path: str, reason: str
) -> None:
    await web_environment.step(Visit(site.url + "/"))
    with pytest.raises(Unspeculable) as refused:
        await web_environment.peek(Visit(path))
    assert refused.value.reason == reason
    assert {asked.method for asked in site.asked} == {"GET"}
    assert (site.count("/logout"), site.count("/popped")) == (0, 0)


async def test_a_peek_says_what_it_is(web_environment: WebEnvironment, site: Website) -> None:
    await web_environment.step(Visit(site.url + "/"))
    await web_environment.peek(Visit("/a"))
    purposes = {asked.path: asked.headers.get("Sec-Purpose") for asked in site.asked}
    assert purposes["/"] is None
    assert purposes["/a"] == "prefetch;prerender"


async def test_a_message_to_another_site_is_kept_back_and_the_page_kept(
    web_environment: WebEnvironment, site: Website
) -> None:
    async with Website({}) as counter:
        site.pages = {
            **site.pages,
            "/counted": f"<p>counted</p><script>navigator.sendBeacon('{counter.url}/c')</script>",
        }
        await web_environment.step(Visit(site.url + "/"))
        assert "counted" in (await web_environment.peek(Visit("/counted"))).text
        assert counter.asked == []


async def test_a_peek_sees_the_sessions_cookies_and_only_these(pool: BrowserPool, site: Website) -> None:
    member = WebEnvironment(pool, named_hosts={"127.0.0.1"})
    stranger = WebEnvironment(pool, named_hosts={"127.0.0.1"})
    try:
        await member.step(Visit(site.url + "/"))
        before = member.key(Visit("/cookie"))
        await member.step(Visit("/member"))
        assert member.key(Visit("/cookie")) != before
        await stranger.step(Visit(site.url + "/"))
        assert "cookie: abc" in (await member.peek(Visit("/cookie"))).text
        assert "cookie: None" in (await stranger.peek(Visit("/cookie"))).text
        assert "cookie: abc" in (await member.peek(Visit("/cookie"))).text
    finally:
        await member.aclose()
        await stranger.aclose()


async def test_a_cancelled_peek_gives_its_slot_back(
    pool: BrowserPool, web_environment: WebEnvironment, site: Website
) -> None:
    await web_environment.step(Visit(site.url + "/"))
    site.shut("/a")
    for round_ in (1, 2, 3):
        peek = asyncio.create_task(web_environment.peek(Visit("/a")))
        await site.arrived("/a", count=round_)
        peek.cancel()
        with pytest.raises(asyncio.CancelledError):
            await peek
        assert "leased=0" in repr(pool)
    assert "beta text" in (await web_environment.peek(Visit("/b"))).text


async def test_a_killed_browser_costs_a_retry_not_the_page(site: Website) -> None:
    others = browsers()
    async with BrowserPool(PoolOptions(speculation_slots=1)) as pool:
        environment = WebEnvironment(pool, named_hosts={"127.0.0.1"})
        await environment.step(Visit(site.url + "/"))
        gate = site.shut("/a")
        step = asyncio.create_task(environment.step(Visit("/a")))
        await site.arrived("/a")
        kill_browsers(but=others)
        gate.set()
        assert "alpha text" in (await step).text
        kill_browsers(but=others)
        assert "beta text" in (await environment.step(Visit("/b"))).text
        assert "beta text" in (await environment.peek(Visit("/b"))).text
        kill_browsers(but=others)
        with suppress(SlotCrashed):  # a speculation is not worth a retry
            await environment.peek(Visit("/a"))
        assert "alpha text" in (await environment.peek(Visit("/a"))).text
        await environment.aclose()


async def test_only_what_a_person_could_see_is_guessed(web_environment: WebEnvironment, site: Website) -> None:
    await web_environment.step(Visit(site.url + "/"))
    seen = await web_environment.step(Visit("/a"))
    assert web_environment.refusal(Visit(site.url + "/b"), seen) is None
    assert web_environment.refusal(Visit(site.url + "/missing"), seen) is None, "a link of the page before"
    assert web_environment.refusal(Visit(site.url + "/honeypot"), seen) == "not-a-link"
    assert web_environment.refusal(Visit(site.url + "/logout"), seen) == "effect-path"
    assert web_environment.refusal(Back(), seen) == "not-a-visit"


async def test_a_redirect_names_the_page_by_both_addresses(web_environment: WebEnvironment, site: Website) -> None:
    await web_environment.step(Visit(site.url + "/"))
    assert web_environment.key(Visit("/old")) != web_environment.key(Visit("/a"))
    observation = await web_environment.peek(Visit("/old"))
    assert observation.url == site.url + "/a"
    assert web_environment.key(Visit("/old")) == web_environment.key(Visit("/a"))
