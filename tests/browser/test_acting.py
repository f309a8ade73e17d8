"""Acting on a page: each gesture, what is told of it, and what it means for the pages seen before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from aiohttp import web

from browser import Back, Find, Observation, Timings, Visit
from browser.action import (
    Action,
    Check,
    Click,
    Forward,
    Hover,
    Press,
    Scroll,
    Select,
    SwitchTab,
    Type,
    Upload,
    WaitFor,
)
from browser.environment import WebEnvironment
from browser.page import LoadOptions
from browser.pool import BrowserPool, PoolOptions
from speccache.errors import Unspeculable
from tests.browser.pages import Site
from tests.conformance import check_law
from tests.processes import browsers, kill_browsers


@pytest.fixture(scope="module")
async def pool() -> AsyncIterator[BrowserPool]:
    async with BrowserPool(PoolOptions(speculation_slots=1)) as opened:
        yield opened
        assert "foreground=0 leased=0" in repr(opened)


@pytest.fixture
async def web_environment(pool: BrowserPool) -> AsyncIterator[WebEnvironment]:
    environment = WebEnvironment(pool, named_hosts={"127.0.0.1"})
    yield environment
    await environment.aclose()


async def opened(environment: WebEnvironment, site: Site, html: str) -> Observation:
    site.put("/", html)
    return await environment.step(Visit(site.url("/")))


def kinds(observation: Observation) -> list[str]:
    return [event.kind for event in observation.events]


# ---- gestures --------------------------------------------------------------------------------------------------------


async def test_typing_replaces_submits_and_keeps_to_its_line(web_environment: WebEnvironment, site: Site) -> None:
    async def echo(request: web.Request) -> web.Response:
        return web.Response(text=f"<p>asked for {request.query['q']}</p>", content_type="text/html")

    site.put_answer("/search", echo)
    await opened(web_environment, site, "<form action=/search><input name=q value=old aria-label=Query></form>")
    typed = await web_environment.step(Type("c1", "two\nlines"))
    assert "value: two lines" in typed.text
    assert "value: other" in (await web_environment.step(Type('[textbox "Query"][c1]', "other"))).text
    assert "value:" not in (await web_environment.step(Type("[c1]", ""))).text
    sent = await web_environment.step(Type("c1", "a & b", submit=True))
    assert "asked for a & b" in sent.text
    assert kinds(sent) == ["navigation"]


@pytest.mark.parametrize(
    ("html", "text", "value"),
    [
        ("<textarea aria-label=it></textarea>", "a\nb", "a\nb"),
        ("<input type=date aria-label=it>", "2024-05-06", "2024-05-06"),
        ("<input type=range min=0 max=9 aria-label=it>", "7", "7"),
        ("<input aria-label=it maxlength=3>", "abcdef", "abc"),
        ("<input aria-label=it>", "x" * 1500, "x" * 1500),
        ("<div role=textbox aria-label=it onclick='i.focus()'><input id=i></div>", "ab", "ab"),
    ],
    ids=["lines", "date", "range", "cut", "long", "inner"],
)
async def test_every_field_takes_text_in_its_own_way(
    web_environment: WebEnvironment, site: Site, html: str, text: str, value: str
) -> None:
    await opened(web_environment, site, html)
    await web_environment.step(Type("c1", text))
    page = await web_environment.live()
    assert await page.locator("input, textarea").input_value() == value


async def test_what_takes_no_text_says_so(web_environment: WebEnvironment, site: Site) -> None:
    await opened(web_environment, site, "<button>A</button><input readonly aria-label=B value=b>")
    assert 'c1 (button "A"): It is no field to type into.' in (await web_environment.step(Type("c1", "x"))).text
    assert 'c2 (textbox "B"): It is read-only.' in (await web_environment.step(Type("c2", "x"))).text


async def test_keys_go_where_the_focus_is(web_environment: WebEnvironment, site: Site) -> None:
    await opened(
        web_environment, site, "<p id=p></p><script>onkeydown = (event) => { p.textContent += event.key; }</script>"
    )
    assert "Escapex" in (await web_environment.step(Press("Escape")), await web_environment.step(Press("x")))[1].text
    assert "Unknown key" in (await web_environment.step(Press("Enterr"))).text


async def test_hovering_shows_what_it_shows(web_environment: WebEnvironment, site: Site) -> None:
    html = "<style>#m {display: none} button:hover + #m {display: block}</style><button>Menu</button><p id=m>entry</p>"
    assert "entry" not in (await opened(web_environment, site, html)).text
    assert "entry" in (await web_environment.step(Hover("c1"))).text


async def test_scrolling_says_where_it_ends(web_environment: WebEnvironment, site: Site) -> None:
    await opened(
        web_environment,
        site,
        "<p id=p>top</p><div style='height:9000px'></div><button>Last</button>"
        "<script>onscroll = () => { p.textContent = 'at ' + Math.round(scrollY); }</script>",
    )
    assert "at 1800" in (await web_environment.step(Scroll("down"))).text
    assert "at 0" in (await web_environment.step(Scroll("up"))).text
    assert "does not scroll further up" in (await web_environment.step(Scroll("up"))).text
    assert "at 0" not in (await web_environment.step(Scroll("c1"))).text
    assert "at 0" in (await web_environment.step(Scroll("top"))).text


async def test_a_box_in_the_page_scrolls_first(web_environment: WebEnvironment, site: Site) -> None:
    await opened(
        web_environment,
        site,
        "<p id=p>top</p><div style='height:1500px; overflow:auto' onscroll='p.textContent = `box ${this.scrollTop}`'>"
        "<div style='height:9000px'>long</div></div>",
    )
    assert "box 1350" in (await web_environment.step(Scroll("down"))).text


async def test_a_text_is_waited_for(web_environment: WebEnvironment, site: Site) -> None:
    gate = site.put("/late", "late text", held=True)
    await opened(
        web_environment,
        site,
        "<p id=p>early</p><script>fetch('/late').then(async (r) => { p.textContent = await r.text(); })</script>",
    )
    waiting = asyncio.create_task(web_environment.step(WaitFor("Late  text")))
    gate.gate.set()
    assert "late text" in (await waiting).text


@pytest.mark.parametrize(
    "action",
    [Click("button"), Click("c9"), Hover("7"), Select("c1", "x"), Check("c1"), SwitchTab(2), Scroll("sideways")],
    ids=str,
)
async def test_what_cannot_be_done_is_said_and_the_page_shown(
    web_environment: WebEnvironment, site: Site, action: Action
) -> None:
    seen = await opened(web_environment, site, "<p>the page</p><button>A</button>")
    after = await web_environment.step(action)
    assert after.text.endswith(seen.text)
    assert len(after.text) > len(seen.text)


async def test_a_click_that_does_nothing_is_no_silent_success(web_environment: WebEnvironment, site: Site) -> None:
    await opened(web_environment, site, "<button>A</button>")
    assert (await web_environment.step(Click("c1"))).text.startswith("Nothing on the page changed.")


async def test_without_a_page_there_is_nothing_to_act_on(web_environment: WebEnvironment, site: Site) -> None:
    assert "no page to act on" in (await web_environment.step(Click("c1"))).text
    await web_environment.step(Visit("http://127.0.0.1:1/"))
    assert "no page to act on" in (await web_environment.step(Click("c1"))).text


# ---- what is told ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("accept", "answer", "result"), [(False, "no", "false"), (True, "yes", "true")])
async def test_a_question_is_answered_as_the_agent_wants(
    web_environment: WebEnvironment, site: Site, *, accept: bool, answer: str, result: str
) -> None:
    await opened(web_environment, site, "<p id=p></p><button onclick=\"p.textContent = confirm('Delete?')\">A</button>")
    after = await web_environment.step(Click("c1", accept=accept))
    (event,) = after.events
    assert event.kind == "dialog"
    assert event.text == f"The page showed a dialog (confirm), which was answered with {answer}: Delete?"
    assert after.text == f"{event.text}\n\n{result}\n\n" + '[button "A"][c1]'


async def test_failures_of_the_page_are_told(web_environment: WebEnvironment, site: Site) -> None:
    site.put("/data", "no", status=500)
    script = "fetch('/data'); fetch('http://127.0.0.1:1/').catch(() => {}); console.error('it broke')"
    await opened(web_environment, site, f'<button onclick="{script}">A</button>')
    after = await web_environment.step(Click("c1"))
    assert sorted(kinds(after)) == ["console-error", "failed-request", "failed-request"]
    assert "/data answered 500" in after.text
    assert "ERR_" in after.text
    assert "it broke" in after.text


async def test_a_file_is_told_and_the_page_stays(web_environment: WebEnvironment, site: Site) -> None:
    site.put("/file", b"PK", content_type="application/zip")
    await opened(web_environment, site, "<p>still here</p><a href=/file>Get</a>")
    after = await web_environment.step(Click("1"))
    assert kinds(after) == ["download"]
    assert "file.zip (application/zip, 2 bytes), which holds no text" in after.text
    assert "still here" in after.text


async def test_a_slow_answer_is_waited_for_beyond_the_cap(pool: BrowserPool, site: Site) -> None:
    options = LoadOptions(settle_cap_seconds=1.0)
    environment = WebEnvironment(pool, named_hosts={"127.0.0.1"}, load_options=options)
    slow = site.put("/slow", "<p>slow text</p>", held=True)

    async def release(_: web.Request) -> web.Response:
        slow.gate.set()
        return web.Response()

    site.put_answer("/release", release)
    milliseconds = options.settle_cap_seconds * 1000 + 500
    release_later = f"setTimeout(() => navigator.sendBeacon('/release'), {milliseconds})"
    script = f"<script>addEventListener('click', () => {release_later})</script>"
    await opened(environment, site, f"<p>old text</p><a href=/slow>Go</a>{script}")
    after = await environment.step(Click("1"))
    assert slow.requested.is_set()
    assert "slow text" in after.text
    assert after.url == site.url("/slow")
    await environment.aclose()


async def test_a_navigation_that_fails_is_a_page_that_says_why(web_environment: WebEnvironment, site: Site) -> None:
    await opened(web_environment, site, "<p>start</p><a href='http://127.0.0.1:1/x'>Go</a>")
    after = await web_environment.step(Click("1"))
    assert after.document.problem is not None
    assert after.url == "http://127.0.0.1:1/x"
    assert "start" in (await web_environment.step(Back())).text


async def test_tabs_are_numbered_and_one_that_closes_itself_is_left(
    web_environment: WebEnvironment, site: Site
) -> None:
    site.put("/new", "<title>New</title><button onclick='window.close()'>Close</button>")
    await opened(web_environment, site, "<title>Old</title><button onclick=\"window.open('/new')\">Open</button>")
    assert (await web_environment.step(Click("c1"))).title == "New"
    assert (await web_environment.step(SwitchTab(1))).title == "Old"
    assert (await web_environment.step(SwitchTab(2))).title == "New"
    assert "Open are 1: " in (await web_environment.step(SwitchTab(3))).text
    assert (await web_environment.step(Click("c1"))).title == "Old"


# ---- what it means for other pages -----------------------------------------------------------------------------------


ACTIONS: list[Action] = [
    Click("c1"),
    Type("c1", "x"),
    Press("Enter"),
    Select("c1", "x"),
    Check("c1"),
    Hover("c1"),
    Scroll("down"),
    Upload("c1", "x"),
    WaitFor("x"),
    SwitchTab(1),
    Back(),
    Forward(),
]


async def test_no_interaction_is_ever_run_ahead(web_environment: WebEnvironment, site: Site) -> None:
    await opened(web_environment, site, "<button onclick=\"fetch('/acted')\">A</button>")
    for action in ACTIONS:
        assert web_environment.key(action) is None
        assert web_environment.refusal(action) == "not-a-visit"
        with pytest.raises(Unspeculable):
            await web_environment.peek(action)
    assert "/acted" not in site.log


@pytest.mark.parametrize(
    ("action", "outdates"),
    [(Click("c1"), True), (Type("c2", "x"), True), (Press("Tab"), True), (Hover("c1"), False), (Find("A"), False)],
    ids=str,
)
async def test_what_may_have_effects_outdates_what_was_loaded_ahead(
    web_environment: WebEnvironment, site: Site, action: Action, *, outdates: bool
) -> None:
    await opened(web_environment, site, "<button>A</button><input aria-label=B>")
    key, elsewhere = web_environment.key(Visit("/x")), web_environment.key(Visit("http://elsewhere.test/"))
    await web_environment.step(action)
    assert (web_environment.key(Visit("/x")) != key) is outdates
    assert web_environment.key(Visit("http://elsewhere.test/")) == elsewhere


async def test_back_after_an_interaction_shows_what_it_changed(web_environment: WebEnvironment, site: Site) -> None:
    count = 0

    async def cart(request: web.Request) -> web.Response:
        nonlocal count
        count += request.method == "POST"
        return web.Response(text=f"<p>{count} in the cart</p><a href=/item>Item</a>", content_type="text/html")

    site.put_answer("/cart", cart)
    site.put("/item", "<form method=post action=/cart><button>Add</button></form>")
    await web_environment.step(Visit(site.url("/cart")))
    await web_environment.step(Visit("/item"))
    assert "1 in the cart" in (await web_environment.step(Click("c1"))).text
    await web_environment.step(Back())
    assert "1 in the cart" in (await web_environment.step(Back())).text
    assert (await web_environment.step(Forward())).url == site.url("/item")
    assert (
        "no page to go forward"
        in (
            await web_environment.step(Forward()),
            await web_environment.step(Forward()),
        )[1].text
    )


def untimed(observation: Observation) -> Observation:
    document = replace(observation.document, timings=Timings(), headers={}, requested_url="")
    return replace(observation, document=document)


@pytest.mark.parametrize(
    "then",
    [
        [Click("c2"), Click("c1"), Back()],
        [Type("c3", "word"), Press("Enter"), Back(), Forward()],
        [Click("1"), Back(), Click("c1")],
        [Hover("c1"), Scroll("down"), WaitFor("two"), SwitchTab(1), Check("c4")],
    ],
    ids=["click", "type", "link", "look"],
)
async def test_acting_after_a_hit_is_acting_after_a_miss(pool: BrowserPool, site: Site, then: list[Action]) -> None:
    site.put("/", "<title>Start</title><a href=/page>Page</a>")
    site.put("/other", "<p>other</p>")
    site.put(
        "/page",
        "<p id=p>none</p><button onclick=\"p.textContent = 'one'\">Go</button>"
        "<button onclick=\"p.textContent = 'two'\">Go</button><form action=/other><input name=q aria-label=Q></form>"
        "<label><input type=checkbox> Box</label><a href=/other>Other</a> two",
    )

    async def fresh() -> WebEnvironment:
        environment = WebEnvironment(pool, named_hosts={"127.0.0.1"})
        await environment.step(Visit(site.url("/")))
        return environment

    await check_law(fresh, first=Visit("1"), then=then, same=untimed)


async def test_a_page_that_loads_differently_makes_references_stale(
    web_environment: WebEnvironment, site: Site
) -> None:
    await opened(web_environment, site, "<a href=/page>Page</a>")
    site.put("/page", "<button>Same</button><button>Same</button><button>Only</button>")
    ahead = await web_environment.peek(Visit("1"))
    await web_environment.adopt(Visit("1"), ahead)
    site.put(
        "/page", "<button>New</button><button>Same</button><button onclick=\"this.after('clicked')\">Only</button>"
    )
    stale = await web_environment.step(Click("c1"))
    assert "cannot be told apart any more" in stale.text
    assert "clicked" in (await web_environment.step(Click("c3"))).text


async def test_an_action_is_not_done_twice_when_the_browser_dies(site: Site) -> None:
    others = browsers()
    async with BrowserPool(PoolOptions(speculation_slots=0)) as pool:
        environment = WebEnvironment(pool, named_hosts={"127.0.0.1"})
        acted = site.put("/acted", "x", held=True)
        await opened(
            environment, site, "<p>the page</p><button onclick=\"fetch('/acted', {method: 'POST'})\">A</button>"
        )
        click = asyncio.create_task(environment.step(Click("c1")))
        await acted.requested.wait()
        kill_browsers(but=others)
        assert "Whether it was done" in (await click).text
        acted.gate.set()
        assert "the page" in (await environment.step(Press("Tab"))).text
        assert site.log.count("/acted") == 1
        await environment.aclose()


async def test_a_cancelled_action_leaves_no_trace_in_the_pool(
    pool: BrowserPool, web_environment: WebEnvironment, site: Site
) -> None:
    await opened(
        web_environment, site, "<p id=p>fresh</p><button onclick=\"p.textContent = 'used'; fetch('/x')\">A</button>"
    )
    held = site.put("/x", "x", held=True)
    click = asyncio.create_task(web_environment.step(Click("c1")))
    await held.requested.wait()
    click.cancel()
    with pytest.raises(asyncio.CancelledError):
        await click
    held.gate.set()
    assert "fresh" in (await web_environment.step(Hover("c1"))).text  # the page was loaded again
    await web_environment.aclose()
    assert "foreground=0" in repr(pool)
