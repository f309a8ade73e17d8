"""When a page counts as ready: every page here would be read too early, or too late, by a fixed timer."""

from __future__ import annotations

import pytest
from aiohttp import web
from playwright.async_api import Page

from browser.observation import Document, Readiness
from browser.page import LoadOptions, load
from browser.reading.habits import Habits
from tests.browser.pages import Site

FILLER = "<p>" + "This text is here from the start, and there is enough of it. " * 6 + "</p>"
FILL = "document.querySelector('main').textContent = 'The text that was waited for.'"


async def read(page: Page, site: Site, html: str, *, cap_seconds: float = 5.0) -> Document:
    site.put("/", html)
    document = await load(page, site.url("/"), options=LoadOptions(settle_cap_seconds=cap_seconds))
    assert document.problem is None
    return document


async def test_a_page_without_scripts_is_ready_when_it_is_parsed(page: Page, site: Site) -> None:
    document = await read(
        page,
        site,
        '<p>Short.</p><script type="application/ld+json">{"a": 1}</script><script type="importmap">{}</script>',
    )
    assert (document.readiness, document.markdown) == (Readiness.STATIC, "Short.")


async def test_styles_are_waited_for_since_they_hide_text(page: Page, site: Site) -> None:
    site.put("/hide.css", ".trap { display: none }", content_type="text/css", delay_seconds=0.3)
    document = await read(page, site, '<p class="trap">Hidden.</p><p>Seen.</p><link rel="stylesheet" href="/hide.css">')
    assert document.markdown == "Seen."


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(f"fetch('/data').then((r) => r.json()).then(() => {{ {FILL} }})", id="fetch"),
        pytest.param(f"fetch('/data').then(() => setTimeout(() => {{ {FILL} }}, 120))", id="fetch-then-timer"),
        pytest.param(
            f"const x = new XMLHttpRequest(); x.open('GET', '/data'); x.onload = () => {{ {FILL} }}; x.send()", id="xhr"
        ),
        pytest.param(f"setTimeout(() => setTimeout(() => {{ {FILL} }}, 200), 200)", id="timers"),
        pytest.param(
            f"const s = document.createElement('script'); s.src = '/late.js'; s.onload = () => {{ {FILL} }};"
            "document.head.append(s)",
            id="added-script",
        ),
        pytest.param(
            "const end = performance.now() + 400, channel = new MessageChannel();"
            f"channel.port1.onmessage = () => {{ if (performance.now() > end) {{ {FILL} }} else turn() }};"
            "const turn = () => { const slice = performance.now() + 5; while (performance.now() < slice);"
            "channel.port2.postMessage(0) }; turn()",
            id="work-in-slices",
        ),
        pytest.param(
            "const root = document.querySelector('main').attachShadow({ mode: 'open' });"
            "fetch('/data').then((r) => r.text()).then(() => "
            "{ setTimeout(() => { root.innerHTML = '<p>The text that was waited for.</p>' }, 100) })",
            id="shadow-root",
        ),
    ],
)
@pytest.mark.parametrize("filler", [FILLER, ""], ids=["beside-other-text", "on-an-empty-page"])
async def test_text_that_comes_later_is_waited_for(page: Page, site: Site, script: str, filler: str) -> None:
    site.put("/data", "{}", content_type="application/json", delay_seconds=0.4)
    site.put("/late.js", "", content_type="text/javascript", delay_seconds=0.4)
    document = await read(page, site, f"<main></main>{filler}<script>{script}</script>")
    assert "The text that was waited for." in document.markdown
    assert document.readiness is Readiness.SETTLED
    assert document.timings.settle_seconds < 3


STREAM = "fetch('/pieces').then(async (answer) => {{ {} " + FILL + " }})"
LATE = {
    "animation frames": f"requestAnimationFrame(() => requestAnimationFrame(() => {{ {FILL} }}))",
    "idle time": f"requestIdleCallback(() => {{ {FILL} }})",
    "first tick": f"const id = setInterval(() => {{ clearInterval(id); {FILL} }}, 200)",
    "coming into view": f"new IntersectionObserver(() => {{ {FILL} }}).observe(document.querySelector('main'))",
    "size": f"new ResizeObserver(() => {{ {FILL} }}).observe(document.querySelector('main'))",
    "message": f"onmessage = () => {{ {FILL} }}; postMessage(0, '*')",
    "load": f"addEventListener('load', () => {{ {FILL} }})",
    "state": f"document.addEventListener('readystatechange', () => document.readyState === 'complete' && ({FILL}))",
    "database": f"indexedDB.open('x').onsuccess = () => {{ {FILL} }}",
    "worker": f"new Worker(URL.createObjectURL(new Blob(['postMessage(0)']))).onmessage = () => {{ {FILL} }}",
    "digest": f"crypto.subtle.digest('SHA-256', new Uint8Array(1e6)).then(() => {{ {FILL} }})",
    "channel": f"new BroadcastChannel('x').onmessage = () => {{ {FILL} }}; new BroadcastChannel('x').postMessage(0)",
    "delayed task": f"scheduler.postTask(() => {{ {FILL} }}, {{ delay: 20 }})",
    "module": f"import('/late.js').then(() => {{ {FILL} }})",
    "cloned answer": f"fetch('/data').then((answer) => answer.clone().json()).then(() => {{ {FILL} }})",
    "reader": STREAM.format("const reader = answer.body.getReader(); while (!(await reader.read()).done);"),
    "loop": STREAM.format("for await (const _ of answer.body);"),
    "pipe": STREAM.format("for await (const _ of answer.body.pipeThrough(new TextDecoderStream()));"),
    "typewriter": "let count = 0; const id = setInterval(() => { document.querySelector('main').append("
    "'The text that was waited for.'[count]); count += 1; if (count === 29) clearInterval(id) }, 10)",
}


async def test_text_is_waited_for_whatever_brings_it(page: Page, site: Site) -> None:
    site.put("/data", "{}", content_type="application/json", delay_seconds=0.1)
    site.put("/late.js", "", content_type="text/javascript")
    site.put_stream("/pieces", pieces=4, delay_seconds=0.05)
    missing = set()
    for name, script in LATE.items():
        document = await read(page, site, f"<main></main>{FILLER}<script>{script}</script>")
        if "The text that was waited for." not in document.markdown or document.readiness is not Readiness.SETTLED:
            missing.add(name)
    assert missing == set()


@pytest.mark.parametrize(
    "html",
    [
        "<p>Not found.</p><script>document.title = 'Not found'</script>",
        "<p>Short.</p><script>setTimeout(() => {}, 5000); setInterval(() => {}, 3000)</script>",
        "<p>Short.</p><script>new MessageChannel().port1.postMessage(0); requestAnimationFrame(() => {})</script>",
        f"{FILLER}<script>onload = () => navigator.sendBeacon('/seen')</script>",
    ],
    ids=["ran", "far-timers", "turns", "beacon"],
)
async def test_where_nothing_can_come_any_more_nothing_is_waited_for(page: Page, site: Site, html: str) -> None:
    waits = [(await read(page, site, html)).timings.settle_seconds for _ in range(4)]
    assert min(waits) < 0.25  # quiet would have to last longer with so little text


async def test_a_known_page_is_decided_sooner_and_a_wrong_habit_loses_nothing(page: Page, site: Site) -> None:
    habits = Habits()
    site.put("/app.js", "", content_type="text/javascript")

    async def once(html: str) -> Document:
        site.put("/", html)
        return await load(page, site.url("/"), habits=habits)

    html = "<main>A short page, and all of it.</main><script src=/app.js></script>"
    first = await once(html)
    assert first.timings.settle_seconds >= 0.3  # it may be importing a module
    assert min([(await once(html)).timings.settle_seconds for _ in range(4)]) < 0.25
    site.put("/app.js", f"import('/late.js').then(() => {{ {FILL} }})", content_type="text/javascript")
    site.put("/late.js", "", content_type="text/javascript", delay_seconds=0.1)
    changed = await once(html.replace("A short page, and all of it.", ""))
    assert changed.markdown == "The text that was waited for."
    assert habits.expected(site.url("/")).late_milliseconds > 50


async def test_an_imported_module_is_waited_for_while_the_page_is_empty(page: Page, site: Site) -> None:
    site.put("/late.js", "export {}", content_type="text/javascript", delay_seconds=0.4)
    document = await read(page, site, f"<main></main><script>import('/late.js').then(() => {{ {FILL} }})</script>")
    assert document.markdown == "The text that was waited for."


async def test_an_empty_root_filled_long_after_load_is_waited_for(page: Page, site: Site) -> None:
    site.put("/data", "{}", content_type="application/json", delay_seconds=0.1)
    document = await read(
        page,
        site,
        "<main></main><script>onload = () => setTimeout(() => fetch('/data').then((r) => r.json())"
        f".then(() => {{ {FILL} }}), 1500)</script>",
    )
    assert document.markdown == "The text that was waited for."


async def test_after_push_state_the_new_text_is_waited_for(page: Page, site: Site) -> None:
    document = await read(
        page,
        site,
        f"<main>Old text.</main>{FILLER}<script>history.pushState(null, '', '/new');"
        f"setTimeout(() => {{ {FILL} }}, 800)</script>",
    )
    assert document.url == site.url("/new")
    assert "The text that was waited for." in document.markdown
    assert "Old text." not in document.markdown


async def test_an_open_event_source_and_a_long_poll_do_not_hold_a_page(page: Page, site: Site) -> None:
    poll = site.put("/poll", "{}", content_type="application/json", held=True)

    async def events(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await poll.gate.wait()
        return response

    site.put_answer("/events", events)
    document = await read(page, site, f"{FILLER}<script>new EventSource('/events'); fetch('/poll')</script>")
    assert poll.requested.is_set()
    assert document.readiness is Readiness.SETTLED
    assert document.timings.settle_seconds < 3
    poll.gate.set()


@pytest.mark.parametrize(
    "script",
    [
        "setInterval(() => { clock.textContent = Date.now() }, 10)",
        "setInterval(() => { clock.style.left = Math.random() + 'px'; clock.className = 'x' + Math.random() }, 5)",
        "setInterval(() => navigator.sendBeacon('/beacon'), 30)",
        "setInterval(() => fetch('/poll'), 30)",
        "(function tick() { setTimeout(tick, 40) })()",
    ],
    ids=["clock", "animation", "beacon", "polling", "timer-chain"],
)
async def test_what_never_ends_does_not_hold_a_page(page: Page, site: Site, script: str) -> None:
    site.put("/poll", "{}", content_type="application/json")
    document = await read(page, site, f"{FILLER}<b id=clock></b><script>{script}</script>")
    assert document.readiness is Readiness.SETTLED
    assert document.timings.settle_seconds < 2


async def test_the_cap_ends_every_wait_and_is_reported(page: Page, site: Site) -> None:
    document = await read(
        page,
        site,
        f"{FILLER}<ul></ul><script>setInterval(() => document.querySelector('ul')"
        ".append(document.createElement('li')), 5)</script>",
        cap_seconds=0.6,
    )
    assert document.readiness is Readiness.CAP
    assert "This text is here" in document.markdown
    assert document.timings.settle_seconds < 2


@pytest.mark.parametrize(
    "html",
    [
        '<meta http-equiv="refresh" content="0; url=/final">Old.',
        "Old.<script>location.replace('/final')</script>",
        "Old.<script>onload = () => { location.href = '/final' }</script>",
        "Old.<script>setTimeout(() => location.assign('/final'), 50)</script>",
    ],
    ids=["meta-refresh", "replace", "on-load", "timer"],
)
async def test_where_the_page_sends_the_browser_on_the_last_page_is_read(page: Page, site: Site, html: str) -> None:
    site.put("/final", "<title>Last</title><p>The last page.</p>", delay_seconds=0.3)
    document = await read(page, site, html)
    assert (document.url, document.title, document.markdown) == (site.url("/final"), "Last", "The last page.")


async def test_a_page_that_sends_the_browser_on_for_ever_ends(page: Page, site: Site) -> None:
    site.put("/", "<script>location.replace('/?' + Math.random())</script>")
    document = await load(page, site.url("/"))
    assert document.problem is not None
    assert "again and again" in document.problem


async def test_a_frame_that_still_loads_is_waited_for(page: Page, site: Site) -> None:
    site.put("/data", "{}", content_type="application/json", delay_seconds=0.3)
    site.put("/frame", f"<main></main><script>fetch('/data').then((r) => r.json()).then(() => {{ {FILL} }})</script>")
    document = await read(page, site, f"{FILLER}<iframe src='/frame'></iframe>")
    assert "The text that was waited for." in document.markdown


async def test_a_strict_content_security_policy_does_not_matter(page: Page, site: Site) -> None:
    site.put("/app.js", f"setTimeout(() => {{ {FILL} }}, 150)", content_type="text/javascript")
    site.put(
        "/", "<main></main><script src='/app.js'></script>", headers={"Content-Security-Policy": "default-src 'self'"}
    )
    document = await load(page, site.url("/"))
    assert document.markdown == "The text that was waited for."


async def test_the_page_finds_the_functions_it_expects(page: Page, site: Site) -> None:
    site.put("/data", '{"a": 1}', content_type="application/json")
    await read(page, site, "<p>Page.</p>")
    found = await page.evaluate("""async () => {
        const unhandled = new Promise((resolve) => addEventListener("unhandledrejection", resolve, { once: true }));
        fetch("http://127.0.0.1:1/");
        const request = new XMLHttpRequest();
        request.open("GET", "/data", false);
        request.send();
        const passed = await new Promise((resolve) => setTimeout((...values) => resolve(values), 1, "x", 2));
        let thrown = "";
        try { XMLHttpRequest.prototype.send.call({}) } catch (error) { thrown = error.name }
        return {
            native: [fetch, setTimeout, XMLHttpRequest.prototype.send, Element.prototype.attachShadow].map(String),
            names: [fetch.name, setTimeout.length],
            json: await (await fetch("/data")).json(),
            xhr: request.responseText,
            passed,
            thrown,
            cancelled: clearTimeout(setTimeout(() => {}, 50)),
            unhandled: (await unhandled).reason.name,
            traces: Object.keys(window).filter((key) => /speccache|readiness/i.test(key)),
        };
    }""")
    assert all("[native code]" in text for text in found["native"])
    assert found["names"] == ["fetch", 1]
    assert (found["json"], found["xhr"], found["passed"]) == ({"a": 1}, '{"a": 1}', ["x", 2])
    assert (found["thrown"], found["unhandled"], found["traces"]) == ("TypeError", "TypeError", [])
