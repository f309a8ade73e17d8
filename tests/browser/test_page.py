"""Loading: what fails, what interrupts, what it costs."""

from __future__ import annotations

import asyncio
import gc
import ssl
import time
from collections.abc import Awaitable

import pytest
import trustme
from aiohttp import web
from playwright.async_api import Browser, Page
from playwright.async_api import Error as PlaywrightError

from browser.errors import SlotCrashed
from browser.observation import Document, Readiness
from browser.page import LoadOptions, _explain, load
from browser.reading.incidents import Incidents
from tests.browser.pages import Site

TICK_SECONDS = 0.002
MAX_LAG_SECONDS = 0.05


# ---- what fails ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://no-such-host.invalid/", "The host no-such-host.invalid is unknown: its name could not be resolved"),
        ("http://127.0.0.1:9/", "http://127.0.0.1:9/ uses a port that browsers do not open"),
        ("not an address", "'not an address' is not a valid address."),
    ],
)
async def test_an_address_that_leads_nowhere_is_a_problem(page: Page, url: str, problem: str) -> None:
    document = await load(page, url)
    assert document.problem is not None
    assert document.problem.startswith(problem)
    assert (document.url, document.status, document.markdown, document.readiness) == (url, None, "", Readiness.NONE)


async def test_what_a_server_does_wrong_is_a_problem_and_the_next_load_is_none(page: Page, site: Site) -> None:
    async def cut_off(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    site.put("/loop", "", status=302, headers={"Location": "/loop"})
    site.put("/empty", "", status=204)
    site.put_answer("/cut", cut_off)
    site.put("/never", "", held=True)
    site.put("/picture", b"\x89PNG\r\n\x1a\n", content_type="image/png")
    site.put("/fine", "<p>Fine.</p>")
    expected = {
        site.url("/loop"): "redirects in a circle",
        site.url("/empty"): "answered without a page",
        site.url("/cut"): "closed the connection without an answer",
        site.url("/picture"): "is no page with text, it is image/png.",
        site.url("/fine").replace("http:", "https:"): "No secure (TLS) connection",
        site.url("/never"): "did not answer within 0.5 seconds.",
    }
    for url, problem in expected.items():
        document = await load(page, url, options=LoadOptions(navigate_timeout_seconds=0.5))
        assert problem in (document.problem or "none")
        fine = await load(page, site.url("/fine"))
        assert (fine.markdown, fine.problem) == ("Fine.", None)


async def test_no_word_in_an_address_is_taken_for_the_browsers_own(page: Page) -> None:
    document = await load(page, "http://no-such-host.invalid/Timeout-page-crashed-and-has-been-closed")
    assert "ERR_NAME_NOT_RESOLVED" in (document.problem or "")


async def test_a_refused_connection_is_a_problem(page: Page) -> None:
    async with Site().serving() as gone:
        url = gone.url("/")
    document = await load(page, url)
    assert document.problem is not None
    assert "refused the connection" in document.problem


@pytest.mark.parametrize(
    ("content_type", "headers", "name"),
    [
        ("application/pdf", {}, "file.pdf"),
        ("application/zip", {}, "file.zip"),
        ("text/html", {"Content-Disposition": 'attachment; filename="page.html"'}, "page.html"),
    ],
)
async def test_a_download_is_a_problem_that_names_the_file(
    page: Page, site: Site, content_type: str, headers: dict[str, str], name: str
) -> None:
    site.put("/file", b"%PDF-1.4", content_type=content_type, headers=headers)
    site.put("/fine", "<p>Fine.</p>")
    document = await load(page, site.url("/file"))
    assert document.problem == f"{site.url('/file')} is a download ({name}), not a page; the file was not kept."
    assert (document.content_type, document.notes) == (content_type, ())
    assert (await load(page, site.url("/fine"))).markdown == "Fine."


async def test_a_certificate_that_nobody_vouches_for_is_a_problem(page: Page) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    runner = web.AppRunner(web.Application(), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    document = await load(page, f"https://127.0.0.1:{runner.addresses[0][1]}/")
    assert document.problem is not None
    assert document.problem.startswith(f"The TLS certificate of 127.0.0.1:{runner.addresses[0][1]} is not valid")
    await runner.cleanup()


@pytest.mark.parametrize("status", [404, 410, 500, 503])
async def test_an_error_page_is_a_page_with_its_status(page: Page, site: Site, status: int) -> None:
    site.put("/", "<h1>Sorry</h1>", status=status)
    document = await load(page, site.url("/"))
    assert (document.status, document.markdown, document.problem) == (status, "# Sorry", None)
    site.put("/silent", "", status=status)
    document = await load(page, site.url("/silent"))
    assert (document.status, document.markdown, document.problem) == (status, "", None)


@pytest.mark.parametrize(
    ("content_type", "body", "markdown"),
    [
        ("text/plain", "a  b\n[x][1] <b>", "a  b\n[x] [1] <b>"),
        ("application/json", '{"a": [1]}', '```json\n{"a": [1]}\n```'),
        ("application/xml", "<a><b>text</b></a>", "```xml\n<a><b>text</b></a>\n```"),
        ("text/css", "p { color: red }", "```\np { color: red }\n```"),
    ],
)
async def test_text_that_is_no_html_is_readable(
    page: Page, site: Site, content_type: str, body: str, markdown: str
) -> None:
    site.put("/", body, content_type=content_type)
    document = await load(page, site.url("/"))
    assert (document.content_type, document.markdown, document.problem) == (content_type, markdown, None)


# ---- what interrupts -------------------------------------------------------------------------------------------------


async def test_dialogs_are_dismissed_and_noted(page: Page, site: Site) -> None:
    site.put(
        "/",
        "<p>Before.</p><script>alert('Hello'); out = [confirm('Sure?'), prompt('Name?')]</script><p>After.</p>"
        "<script>document.write('<p>' + out.join() + '</p>'); onbeforeunload = (e) => e.preventDefault()</script>",
    )
    site.put("/next", "Next.")
    document = await load(page, site.url("/"))
    assert document.markdown == "Before.\n\nAfter.\n\nfalse,"
    assert document.incidents == (
        "The page showed a dialog (alert), which was dismissed: Hello",
        "The page showed a dialog (confirm), which was dismissed: Sure?",
        "The page showed a dialog (prompt), which was dismissed: Name?",
    )
    assert document.timings.total_seconds < 2
    await page.mouse.click(5, 5)  # only a page that was touched may ask before it is left
    assert (await load(page, site.url("/next"))).markdown == "Next."


async def test_a_window_the_page_opens_is_closed_and_noted(page: Page, site: Site) -> None:
    site.put("/", "<p>Here.</p><script>window.open('/other')</script>")
    site.put("/other", "Other.")
    document = await load(page, site.url("/"))
    assert document.markdown == "Here."
    assert len(document.incidents) == 1
    assert "opened a window" in document.incidents[0]
    assert page.context.pages == [page]


async def test_a_file_the_page_offers_is_noted(page: Page, site: Site) -> None:
    site.put("/file.zip", b"PK", content_type="application/zip")
    site.put("/", "<p>Here.</p><iframe src=/file.zip></iframe>")
    document = await load(page, site.url("/"))
    assert document.markdown == "Here."
    refused = f"The page offered a file for download, which was not kept: file.zip, at {site.url('/file.zip')}"
    assert document.incidents == (refused,)


async def test_another_fragment_is_a_new_document(page: Page, site: Site) -> None:
    site.put("/", "<main>nothing</main><script>document.querySelector('main').textContent = location.hash</script>")
    first = await load(page, site.url("/#/one"))
    second = await load(page, site.url("/#/two"))
    again = await load(page, site.url("/#/two"))
    assert [document.markdown for document in (first, second, again)] == ["#/one", "#/two", "#/two"]
    assert [document.url for document in (first, second)] == [site.url("/#/one"), site.url("/#/two")]
    assert site.log.count("/") == 3


async def test_a_script_that_never_ends_is_a_problem_and_ends_the_page(page: Page, site: Site) -> None:
    site.put("/", "<p>Here.</p><script>setTimeout(() => { for (;;); }, 0)</script>")
    options = LoadOptions(settle_cap_seconds=0.3, read_cap_seconds=0.3, stuck_seconds=0.5)
    document = await load(page, site.url("/"), options=options)
    assert document.problem is not None
    assert "its scripts keep the browser busy" in document.problem
    assert page.is_closed()


async def test_a_page_that_dies_says_so(browser: Browser, page: Page, site: Site) -> None:
    held = site.put("/", "never", held=True)
    async with asyncio.TaskGroup() as tasks:
        loading = tasks.create_task(_outcome(load(page, site.url("/"))))
        await held.requested.wait()
        await page.close()
    assert isinstance(loading.result(), SlotCrashed)
    assert isinstance(await _outcome(load(page, site.url("/"))), SlotCrashed)


async def test_a_renderer_that_crashes_says_so(page: Page, site: Site) -> None:
    data = site.put("/data", "{}", held=True)
    site.put("/", "<p>Here.</p><script>fetch('/data')</script>")
    session = await page.context.new_cdp_session(page)
    async with asyncio.TaskGroup() as tasks:
        loading = tasks.create_task(_outcome(load(page, site.url("/"))))
        await data.requested.wait()
        crash = tasks.create_task(_outcome(session.send("Page.crash")))
        await asyncio.wait({loading})
        crash.cancel()
    assert isinstance(loading.result(), SlotCrashed)


async def test_a_navigation_that_a_crash_aborts_is_no_answer_without_a_page(page: Page, site: Site) -> None:
    aborted = PlaywrightError(f"Page.goto: net::ERR_ABORTED at {site.url('/')}")
    options = LoadOptions()
    async with Incidents(page, downloads=None, options=options) as incidents:
        alive = await _explain(page, site.url("/"), aborted, incidents=incidents, options=options)
        assert alive.problem is not None
        assert "answered without a page" in alive.problem
        crashed = asyncio.Event()
        page.on("crash", lambda _: crashed.set())
        session = await page.context.new_cdp_session(page)
        crash = asyncio.create_task(_outcome(session.send("Page.crash")))
        await crashed.wait()
        crash.cancel()
        dead = await _outcome(_explain(page, site.url("/"), aborted, incidents=incidents, options=options))
    assert isinstance(dead, SlotCrashed)


async def _outcome(call: Awaitable[object]) -> object:
    try:
        return await call
    except Exception as error:  # noqa: BLE001  # the test looks at it
        return error


@pytest.mark.parametrize("stage", ["navigating", "settling"])
async def test_a_load_that_is_cancelled_leaves_the_page_usable(page: Page, site: Site, stage: str) -> None:
    complaints: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: complaints.append(context["message"]))
    slow = site.put("/slow", "{}", held=True)
    site.put("/page", "<main></main><script>fetch('/slow')</script>")
    site.put("/fine", "<p>Fine.</p>")
    task = asyncio.create_task(load(page, site.url("/slow" if stage == "navigating" else "/page")))
    await slow.requested.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert page.url == "about:blank"
    document = await load(page, site.url("/fine"))
    assert (document.markdown, document.notes) == ("Fine.", ())
    del task
    gc.collect()
    loop.set_exception_handler(None)
    assert [text for text in complaints if "never retrieved" in text] == []
    slow.gate.set()


# ---- what it costs ---------------------------------------------------------------------------------------------------


def _big_page(size: int) -> str:
    row = "<tr><td>{n}</td><td><a href='/{n}'>Entry {n}</a></td><td>A value as long as those in tables.</td></tr>"
    text = "It goes on like this, for a sentence or two. " * 5
    item = f"<p>Paragraph {{n}} has <b>some</b> words, <code>code</code> and <a href='/p/{{n}}'>a link</a>. {text}</p>"
    blocks = []
    length = 0
    number = 0
    while length < size:
        number += 1
        blocks.append((item if number % 200 else f"<table>{row * 300}</table>").replace("{n}", str(number)))
        length += len(blocks[-1])
    return "".join(blocks)


async def _load_beside_a_ticker(page: Page, url: str) -> tuple[Document, float]:
    """Load a page, and measure the longest time that this process kept a ticker waiting meanwhile.

    A ticker that comes late because other processes have the processor is not counted: meanwhile this one used none.
    """
    loop = asyncio.get_running_loop()
    lags: list[float] = []

    def tick(due: float, used: float) -> None:
        lags.append(min(loop.time() - due, time.process_time() - used))
        if not done.is_set():
            due = loop.time() + TICK_SECONDS
            loop.call_at(due, tick, due, time.process_time())

    done = asyncio.Event()
    loop.call_soon(tick, loop.time(), time.process_time())
    document = await load(page, url)
    done.set()
    return document, max(lags)


async def test_a_page_of_two_megabytes_does_not_block_the_event_loop(page: Page, site: Site) -> None:
    site.put("/", _big_page(2_000_000))
    gc.collect()
    gc.freeze()  # what pytest and its plug-ins keep is not ours to go through
    document, lag = await _load_beside_a_ticker(page, site.url("/"))
    gc.unfreeze()
    assert document.problem is None
    assert len(document.markdown) > 1_500_000
    assert document.notes == ()
    assert lag < MAX_LAG_SECONDS


async def test_a_page_of_ten_megabytes_is_cut_and_says_so(page: Page, site: Site) -> None:
    site.put("/", _big_page(10_000_000))
    document = await load(page, site.url("/"))
    assert document.problem is None
    assert len(document.markdown) < 4_000_000
    assert any("was cut" in note for note in document.notes)
