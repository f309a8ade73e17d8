"""Files that pages give: taken in within limits, told with what is known of them, and the page stays as it was."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest
from aiohttp import web

from browser import Observation, Visit
from browser.acting.allowance import Allowance, Secret
from browser.action import Back, Click, Find, Hover, Type
from browser.downloads.watch import Downloads
from browser.environment import WebEnvironment
from browser.observation import Download
from browser.page import LoadOptions
from browser.pool import BrowserPool, PoolOptions
from speccache.errors import Unspeculable
from tests.browser.pages import Answer, Site
from tests.browser.pdf_files import pdf

SECRET = Secret(name="WORD", value="hunter 2&", host="127.0.0.1")
ATTACHED = {"Content-Disposition": "attachment"}
MAKES_A_FILE = """const link = document.createElement("a"); link.download = "made here.csv";
link.href = window.URL.createObjectURL(new Blob(["a,b"], { type: "text/csv" })); link.click()"""


@pytest.fixture(scope="module")
async def pool() -> AsyncIterator[BrowserPool]:
    async with BrowserPool(PoolOptions(speculation_slots=1)) as opened:
        yield opened
        assert "foreground=0" in repr(opened)


@pytest.fixture
async def web_environment(pool: BrowserPool) -> AsyncIterator[WebEnvironment]:
    async with aclosing(environment(pool)) as opened:
        yield opened


def environment(pool: BrowserPool, *, options: LoadOptions | None = None) -> WebEnvironment:
    return WebEnvironment(
        pool,
        named_hosts={"127.0.0.1"},
        load_options=options or LoadOptions(),
        allowance=Allowance(secrets=[SECRET]),
    )


def downloads(environment: WebEnvironment) -> Downloads:
    slot = environment._foreground._slot
    assert slot is not None
    assert slot.downloads is not None
    return slot.downloads


def tabs(environment: WebEnvironment) -> int:
    return len(downloads(environment)._context.pages)


def file_of(observation: Observation) -> Download:
    """The file of the one event."""
    (event,) = observation.events
    assert event.kind == "download"
    assert event.download is not None
    return event.download


def endless(*, length: int | None = None) -> tuple[Answer, list[int]]:
    """A file that does not end, and how many of its bytes were sent."""
    sent = [0]

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/zip"})
        response.content_length = length
        await response.prepare(request)
        try:
            while length is None or sent[0] < length:
                await response.write(b"x" * 100_000)
                sent[0] += 100_000
        except ConnectionError:
            pass
        return response

    return answer, sent


# ---- in place of a page ----------------------------------------------------------------------------------------------


async def test_a_file_that_is_visited_is_read_and_the_page_before_stays(
    web_environment: WebEnvironment, site: Site
) -> None:
    site.put(
        "/",
        "<p>the page</p><input aria-label=Note><p id=p>fresh</p><button onclick=\"p.textContent='used'\">A</button>",
    )
    site.put("/get", "name;grün\n".encode("latin-1"), content_type="text/csv; charset=latin-1", headers=ATTACHED)
    await web_environment.step(Visit(site.url("/")))
    await web_environment.step(Type("c1", "kept"))
    seen = await web_environment.step(Visit("/get"))
    assert seen.text == "```\nname;grün\n```"
    assert (seen.url, seen.title) == (site.url("/get"), "get.csv")
    document, file = seen.document, seen.document.download
    assert file is not None
    assert (document.status, document.content_type, document.problem) == (200, "text/csv", None)
    assert document.notes == ("This is a file, not a page: get.csv (text/csv, 10 bytes). Its text is shown.",)
    assert (file.name, file.url, file.size_bytes, file.cut) == ("get.csv", site.url("/get"), 10, False)
    assert file.path is not None
    assert await asyncio.to_thread(lambda: Path(str(file.path)).stat().st_mode & 0o777) == 0o600
    assert "grün" in (await web_environment.step(Find("name"))).text
    assert "This is a file, which can only be read" in (await web_environment.step(Click("c2"))).text
    back = await web_environment.step(Back())
    assert "value: kept" in back.text
    after = await web_environment.step(Click("c2"))
    assert "used" in after.text
    assert "value: kept" in after.text
    assert site.log.count("/") == 1


async def test_a_visit_without_a_page_before_is_read_too(web_environment: WebEnvironment, site: Site) -> None:
    site.put("/r.pdf", pdf("The answer is 42."), content_type="application/pdf")
    seen = await web_environment.step(Visit(site.url("/r.pdf")))
    assert (seen.text, seen.document.problem) == ("The answer is 42.", None)
    assert "no page to go back to" in (await web_environment.step(Back())).text


@pytest.mark.parametrize("length", [None, 1_000_000_000], ids=["unknown", "declared"])
async def test_a_file_that_is_too_large_is_broken_off_on_its_way(
    pool: BrowserPool, site: Site, length: int | None
) -> None:
    answer, sent = endless(length=length)
    site.put_answer("/big.zip", answer)
    async with aclosing(environment(pool, options=LoadOptions(max_download_bytes=1_000_000))) as walk:
        seen = await walk.step(Visit(site.url("/big.zip")))
    file = seen.document.download
    assert file is not None
    assert (file.cut, file.path) == (True, None)
    assert seen.text == f"{file.url} is a file, not a page: big.zip, which is larger than 1 MB, so it was broken off."
    assert sent[0] < 1_000_000_000


async def test_a_file_that_does_not_come_is_given_up(pool: BrowserPool, site: Site) -> None:
    never, cut_off = asyncio.Event(), asyncio.Event()

    async def hold(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/zip", "Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b"x" * 100)
        if request.path == "/cut.zip":
            await cut_off.wait()
            assert request.transport is not None
            request.transport.abort()
        else:
            await never.wait()
        return response

    for path in ("/held.zip", "/cut.zip"):
        site.put_answer(path, hold)
    cut_off.set()
    async with aclosing(environment(pool, options=LoadOptions(download_seconds=0.5))) as walk:
        held = await walk.step(Visit(site.url("/held.zip")))
        cut = await walk.step(Visit(site.url("/cut.zip")))
    assert held.text.endswith("held.zip, which did not come within 0.5 seconds.")
    assert "cut.zip, which could not be had" in cut.text
    never.set()


async def test_a_visit_that_is_cancelled_breaks_the_file_off(web_environment: WebEnvironment, site: Site) -> None:
    begun, broken_off = asyncio.Event(), asyncio.Event()

    async def hold(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/zip"})
        await response.prepare(request)
        try:
            while True:
                await response.write(b"x" * 1000)
                begun.set()
                await asyncio.sleep(0)
        except ConnectionError:
            broken_off.set()
        return response

    site.put_answer("/endless.zip", hold)
    site.put("/", "<p>fine</p>")
    await web_environment.step(Visit(site.url("/")))
    visit = asyncio.create_task(web_environment.step(Visit("/endless.zip")))
    await begun.wait()
    await downloads(web_environment).begun(1, seconds=10)
    visit.cancel()
    with pytest.raises(asyncio.CancelledError):
        await visit
    await broken_off.wait()
    assert downloads(web_environment)._arrivals == {}
    assert "fine" in (await web_environment.step(Visit(site.url("/")))).text


async def test_a_file_that_a_page_starts_by_itself_is_refused_and_named(
    web_environment: WebEnvironment, site: Site
) -> None:
    site.put("/r.pdf", pdf("The answer is 42."), content_type="application/pdf")
    site.put("/", "<meta http-equiv=refresh content='0;url=/r.pdf'><p>Your download begins.</p>")
    seen = await web_environment.step(Visit(site.url("/")))
    assert seen.text == "Your download begins."
    (incident,) = seen.document.incidents
    assert incident.endswith(f"which was not kept: r.pdf, at {site.url('/r.pdf')}")
    assert (await web_environment.step(Visit("/r.pdf"))).text == "The answer is 42."


async def test_nothing_is_taken_in_ahead_of_time(web_environment: WebEnvironment, site: Site) -> None:
    site.put("/", "<a href=/paper>Paper</a>")
    site.put("/paper", pdf("The answer is 42."), content_type="application/pdf")
    await web_environment.step(Visit(site.url("/")))
    folder = downloads(web_environment)._quarantine.folder
    before = await asyncio.to_thread(lambda: set(folder.iterdir()))
    with pytest.raises(Unspeculable, match="failed"):
        await web_environment.peek(Visit("1"))
    assert await asyncio.to_thread(lambda: set(folder.iterdir())) == before
    assert "42" in (await web_environment.step(Visit("1"))).text


# ---- as the answer to an action --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "way",
    [
        "<a href=/moved>Get</a>",
        "<a href=/r.pdf target=_blank>Get</a>",
        "<a href=/r.pdf download='x.pdf'>Get</a>",
        "<a href=/r.pdf target=hidden>Get</a><iframe name=hidden hidden></iframe>",
        "<button onclick=\"window.open('/r.pdf')\">Get</button>",
    ],
    ids=["redirected", "new-tab", "download", "frame", "window-open"],
)
async def test_a_file_that_a_click_gives_is_shown(web_environment: WebEnvironment, site: Site, way: str) -> None:
    site.put("/", f"<p>the page</p>{way}")
    site.put("/moved", "", status=302, headers={"Location": "/r.pdf"})
    held = site.put("/r.pdf", pdf("The answer is 42."), content_type="application/pdf", held=True)
    await web_environment.step(Visit(site.url("/")))
    click = asyncio.create_task(web_environment.step(Click("c1" if "button" in way else "1")))
    await held.requested.wait()
    held.gate.set()
    seen = await click
    file = file_of(seen)
    assert seen.document.download == file
    first, _, rest = seen.text.partition("\n\n")
    assert first.startswith(f"A file came: {file.name} (application/pdf, ")
    assert rest == "The answer is 42."
    assert tabs(web_environment) == 1
    back = await web_environment.step(Back())
    assert back.text.startswith("the page")
    assert site.log.count("/") == 1


async def test_a_file_that_the_page_makes_is_read(web_environment: WebEnvironment, site: Site) -> None:
    site.put("/", f"<button onclick='{MAKES_A_FILE}'>Export</button>")
    await web_environment.step(Visit(site.url("/")))
    seen = await web_environment.step(Click("c1"))
    file = file_of(seen)
    assert (file.name, file.content_type, file.url[:12]) == ("made here.csv", "text/csv", "blob:http://")
    assert seen.text.endswith("```\na,b\n```")
    assert "Export" in (await web_environment.step(Back())).text


async def test_many_files_at_once_are_not_all_taken(web_environment: WebEnvironment, site: Site) -> None:
    whole = asyncio.Event()

    async def hold(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/zip"})
        await response.prepare(request)
        await response.write(b"PK")
        await whole.wait()
        return response

    names = [f"{number}.zip" for number in range(4)]
    for name in names:
        site.put_answer(f"/{name}", hold)
    links = "".join(f"<a href=/{name} download></a>" for name in names)
    site.put("/", f"{links}<button onclick=\"document.querySelectorAll('a').forEach((a) => a.click())\">Get</button>")
    await web_environment.step(Visit(site.url("/")))
    click = asyncio.create_task(web_environment.step(Click("c1")))
    while len(downloads(web_environment)._arrivals) < len(names):
        await asyncio.sleep(0)
    whole.set()
    seen = await click
    problems = [event.download.problem for event in seen.events if event.download]
    assert sorted(map(str, problems)) == ["None", "None", "None", "was one too many: 3 come at once"]


async def test_a_file_that_comes_late_is_told_with_the_next_action(web_environment: WebEnvironment, site: Site) -> None:
    site.put("/late.txt", "late words", content_type="text/plain", headers=ATTACHED)
    site.put("/", "<iframe name=f hidden></iframe><button>A</button>")
    await web_environment.step(Visit(site.url("/")))
    assert (await web_environment.step(Click("c1"))).events == ()
    await (await web_environment.live()).evaluate("void open('/late.txt', 'f')")
    await downloads(web_environment).begun(1, seconds=10)
    seen = await web_environment.step(Hover("c1"))
    assert file_of(seen).name == "late.txt"
    assert "late words" in seen.text
    await web_environment.step(Back())
    await (await web_environment.live()).evaluate("void open('/late.txt', 'f')")
    await downloads(web_environment).begun(1, seconds=10)
    await asyncio.wait(downloads(web_environment)._arrivals)
    again = await web_environment.step(Visit(site.url("/")))
    assert again.document.incidents == ("A file came after the last action, and was put aside: late.txt",)


async def test_a_secret_in_a_file_is_masked(web_environment: WebEnvironment, site: Site) -> None:
    site.put("/", "<a href=/export>Get</a>")
    site.put("/export", f"It is {SECRET.value}.", content_type="text/plain", headers=ATTACHED)
    await web_environment.step(Visit(site.url("/")))
    assert "It is {{WORD}}." in (await web_environment.step(Click("1"))).text


# ---- kept for the user -----------------------------------------------------------------------------------------------


async def test_files_are_kept_where_the_user_wants_them(site: Site, tmp_path: Path) -> None:
    site.put("/r.pdf", pdf("The answer is 42."), content_type="application/pdf")
    kept = tmp_path / "kept"
    async with (
        BrowserPool(PoolOptions(speculation_slots=0, downloads=kept)) as pool,
        aclosing(environment(pool)) as walk,
    ):
        for _ in range(2):
            await walk.step(Visit(site.url("/r.pdf")))
    names = await asyncio.to_thread(lambda: sorted(path.name for path in kept.iterdir()))
    assert names == ["r (2).pdf", "r.pdf"]
