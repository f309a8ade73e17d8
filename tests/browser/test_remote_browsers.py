"""Browsers elsewhere: one that dies costs no question, pages are spread by weight, and what is wrong is said."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from pathlib import Path

import pytest
from aiohttp import web

from agent.console import ExitCode, exit_code
from agent.doctor import check_endpoints
from browser.action import Visit
from browser.egress.proxy import EgressProxy
from browser.egress.rule import EgressRule
from browser.engine.driver import RunningDriver
from browser.engine.launch import LaunchOptions
from browser.engine.probe import passing_driver
from browser.environment import WebEnvironment
from browser.errors import EndpointFailed, EndpointsDown, LaunchFailed, SlotCrashed
from browser.pool import BrowserPool, PoolOptions
from browser.remote.connecting import connect
from browser.remote.endpoint import Endpoint, parse_endpoint
from browser.remote.fleet import Fleet
from tests.browser.pages import Site
from tests.browser.remote_servers import (
    OTHER_VERSION,
    Served,
    answering,
    debugged_browser,
    playwright_server,
)
from tests.browser.waiting import nothing_leased

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and links")

ATTACHED = {"Content-Disposition": "attachment; filename=table.csv"}
NOBODY = "ws://127.0.0.1:1/?token=s3cret"


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    async with playwright_server(tmp_path_factory.mktemp("playwright")) as served:
        yield served


@pytest.fixture(scope="module")
async def driver() -> AsyncIterator[RunningDriver]:
    async with passing_driver(timeout_seconds=30) as starting:
        yield await starting.running()


def pages(site: Site) -> None:
    for name in "abcd":
        site.put(f"/{name}", f"<p>{name} text</p><a href=/a>a</a><a href=/b>b</a><a href=/c>c</a>")


def walk(pool: BrowserPool) -> aclosing[WebEnvironment]:
    return aclosing(WebEnvironment(pool, named_hosts={"127.0.0.1"}))


def fleet(pool: BrowserPool) -> Fleet:
    found = pool._pair._foreground
    assert isinstance(found, Fleet)
    return found


async def all_there(pool: BrowserPool) -> None:
    """Wait for those that the pool did not wait for."""
    while any(post.expected for post in fleet(pool)._roster.posts):
        await asyncio.sleep(0)


async def refusal(driver: RunningDriver, endpoint: Endpoint, *, proxy: str | None = None) -> EndpointFailed:
    options = LaunchOptions(launch_seconds=5, close_seconds=1)
    with pytest.raises(EndpointFailed) as failed:
        await connect(driver, endpoint, options=options, background=False, proxy=proxy, now_seconds=0)
    assert "s3cret" not in str(failed.value) + failed.value.hint
    assert failed.value.__cause__ is None, "Playwright's own words hold the address"
    assert failed.value.__context__ is None or failed.value.__suppress_context__
    return failed.value


class Held:
    """A page that is answered when the test says so, however often it was asked for."""

    def __init__(self, site: Site) -> None:
        self.asked = asyncio.Semaphore(0)
        self.gate = asyncio.Event()
        site.put_answer("/held", self._answer)

    async def _answer(self, _: web.Request) -> web.Response:
        self.asked.release()
        await self.gate.wait()
        return web.Response(text="<p>held text</p>", content_type="text/html")


async def test_one_of_two_servers_is_killed_and_no_question_is_lost(
    server: Served, site: Site, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pages(site)
    async with playwright_server(tmp_path) as doomed, AsyncExitStack() as stack:
        endpoints = (doomed.endpoint("?token=s3cret#weight=2"), server.endpoint())
        pool = await stack.enter_async_context(BrowserPool(PoolOptions(speculation_slots=1, endpoints=endpoints)))
        await all_there(pool)
        questions = [await stack.enter_async_context(walk(pool))]
        assert "a text" in (await questions[0].step(Visit(site.url("/a")))).text
        roster = fleet(pool)._roster
        free = [post.foreground == 0 for post in roster.posts]
        async with pool.speculation("me") as slot:
            ahead = slot.home
        if any(free):  # else the slot that stands ready is where the question is not
            assert [post.background == 1 for post in roster.posts] == free, "beside no page of a real action"
        assert ahead not in fleet(pool).browsers
        assert all("--disable-remote-fonts" in browser.cmdline() for browser in doomed.browsers)

        questions += [await stack.enter_async_context(walk(pool)) for _ in range(3)]
        held = Held(site)
        async with asyncio.TaskGroup() as group:
            steps = [group.create_task(question.step(Visit(site.url("/held")))) for question in questions]
            for _ in steps:
                await held.asked.acquire()
            lost = roster.posts[0].foreground
            await doomed.kill()
            held.gate.set()
        assert all("held text" in step.result().text for step in steps)
        assert "b text" in (await questions[0].step(Visit(site.url("/b")))).text
        assert [post.failure is not None for post in roster.posts] == [True, False]
        assert 1 < pool.statistics().replaced <= lost < 4 + 1
        for question in questions:
            await question.aclose()
        await pool.forget("me")
        await nothing_leased(pool)
    assert "ECONNREFUSED" in caplog.text
    assert "s3cret" not in caplog.text


async def test_one_that_hangs_gets_no_more_pages(server: Served, tmp_path: Path) -> None:
    async with playwright_server(tmp_path) as hanging:
        endpoints = (hanging.endpoint("#weight=9"), server.endpoint())
        options = PoolOptions(speculation_slots=0, endpoints=endpoints, launch=LaunchOptions(close_seconds=0.3))
        async with BrowserPool(options) as pool:
            await all_there(pool)
            slots = [await pool.foreground() for _ in range(2)]  # the first may have stood ready at the other one
            first, second = fleet(pool)._roster.posts
            slot = next(slot for slot in slots if fleet(pool)._posts[slot.context] is first)
            hanging.process.send_signal(signal.SIGSTOP)
            with pytest.raises(SlotCrashed, match="does not answer"):
                async with pool.bounded(slot, seconds=0.1):
                    await slot.page.title()
            assert first.failure is not None
            assert "does not answer" in first.failure.reason
            before = second.foreground
            other = await pool.replace(slot)
            assert (other.home is not slot.home, second.foreground > before) == (True, True)


async def test_one_that_never_answers_is_not_waited_for(server: Served) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        nobody = parse_endpoint(f"ws://127.0.0.1:{silent.getsockname()[1]}")
        async with BrowserPool(PoolOptions(speculation_slots=0, endpoints=(nobody, server.endpoint()))) as pool:
            slots = [await pool.foreground() for _ in range(2)]
            first, second = fleet(pool)._roster.posts
            assert (first.expected, second.foreground) == (True, 2)
            for slot in slots:
                await pool.discard(slot)
        assert second.foreground == 0


async def test_files_come_from_afar(server: Served, site: Site) -> None:
    site.put("/table", "name,size\nash,3", content_type="text/csv", headers=ATTACHED)
    async with BrowserPool(PoolOptions(speculation_slots=0, endpoints=(server.endpoint(),))) as pool:
        async with walk(pool) as asking:
            seen = await asking.step(Visit(site.url("/table")))
            assert "ash" in seen.text
            assert seen.document.download is not None
            folder = Path(seen.document.download.path).parent
            assert [path.name for path in folder.iterdir()] == ["table.csv"]
        # What the other machine could reach by itself is refused by this one's rule.
        async with aclosing(WebEnvironment(pool)) as stranger:
            assert "private" in (await stranger.step(Visit(site.url("/table")))).text
            assert site.log.count("/table") == 1


async def test_a_browser_with_a_debugging_port_is_shared_and_survives(site: Site, tmp_path: Path) -> None:
    pages(site)
    site.put("/table", "name,size\nash,3", content_type="text/csv", headers=ATTACHED)
    async with debugged_browser(tmp_path) as browser:
        for _ in range(2):
            async with BrowserPool(PoolOptions(speculation_slots=1, endpoints=(browser.endpoint(),))) as pool:
                async with walk(pool) as asking, pool.speculation("me") as slot:
                    assert "a text" in (await asking.step(Visit(site.url("/a")))).text
                    assert "ash" in (await asking.step(Visit(site.url("/table")))).text
                    assert slot.home not in fleet(pool).browsers
                assert await pool.measure() == 0
            assert browser.process.returncode is None


async def test_where_nobody_is_every_endpoint_is_named() -> None:
    async with answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello") as port:
        endpoints = (parse_endpoint(NOBODY), parse_endpoint(f"http://127.0.0.1:{port}/?token=s3cret"))
        with pytest.raises(EndpointsDown) as down:
            async with BrowserPool(PoolOptions(endpoints=endpoints)):
                pass
    assert [failure.endpoint for failure in down.value.failures] == ["ws://127.0.0.1:1", f"http://127.0.0.1:{port}"]
    assert "ECONNREFUSED" in str(down.value)
    assert "run-server" in down.value.hint
    assert "s3cret" not in str(down.value)
    assert exit_code(down.value) is ExitCode.ENVIRONMENT


async def test_another_version_is_told_with_both_and_what_to_do(driver: RunningDriver) -> None:
    async with answering(f"HTTP/1.1 428 Precondition Required\r\n\r\n{OTHER_VERSION}") as port:
        failed = await refusal(driver, parse_endpoint(f"ws://127.0.0.1:{port}/?token=s3cret"))
    assert "it runs Playwright 1.50, and this machine Playwright 1." in failed.reason
    assert "pip install 'playwright==1.50.*'" in failed.hint


async def test_a_debugging_port_named_as_a_server_is_told(driver: RunningDriver) -> None:
    async with answering("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n") as port:
        failed = await refusal(driver, parse_endpoint(f"ws://me:s3cret@127.0.0.1:{port}/"))
    assert failed.reason == f"ws://127.0.0.1:{port} 404 Not Found"
    assert "http://HOST:PORT" in failed.hint


async def test_a_browser_that_does_not_reach_the_proxy_is_refused(driver: RunningDriver, server: Served) -> None:
    failed = await refusal(driver, server.endpoint(), proxy="http://127.0.0.1:1")
    assert "ERR_PROXY_CONNECTION_FAILED" in failed.reason
    assert "--egress-host" in failed.hint


async def test_doctor_warns_of_one_and_fails_without_any(server: Served) -> None:
    good, bad = await check_endpoints([server.endpoint("?token=s3cret"), parse_endpoint(NOBODY)])
    assert (good.status, bad.status) == ("ok", "warn")
    assert "connected in" in good.detail
    assert "s3cret" not in f"{good}{bad}"
    (only,) = await check_endpoints([parse_endpoint("ws://192.0.2.9:3000/?s3cret")])
    assert only.status == "fail"
    assert "address of this machine" in only.hint
    assert "s3cret" not in f"{only}"


def test_a_browser_away_needs_an_address_of_this_machine() -> None:
    with pytest.raises(LaunchFailed, match=r"192\.0\.2\.9:3000 does not reach") as failed:
        BrowserPool(PoolOptions(endpoints=(parse_endpoint("ws://192.0.2.9:3000"),)))
    assert "at which address" in failed.value.hint


@pytest.mark.skipif(sys.platform != "linux", reason="only there all of 127.0.0.0/8 is this machine")
async def test_the_proxy_lets_in_the_machines_of_endpoints_and_nobody_else() -> None:
    async with EgressProxy(EgressRule(), host="127.0.0.2", guests=["127.0.0.3", "nowhere.invalid"]) as egress:
        assert egress.url.startswith("http://127.0.0.2:")
        port = int(egress.url.rpartition(":")[2])
        assert b"403" in await _asked(port, source="127.0.0.3")
        assert b"403" in await _asked(port, source="127.0.0.1"), "this machine itself"
        assert await _asked(port, source="127.0.0.4") == b""


async def test_a_proxy_that_cannot_listen_says_so() -> None:
    for host, says in (("192.0.2.77", "cannot listen at 192.0.2.77"), ("nowhere.invalid", "nothing is known")):
        with pytest.raises(LaunchFailed, match=says) as failed:
            await EgressProxy(EgressRule(), host=host).__aenter__()
        assert "--egress-host" in failed.value.hint


async def _asked(port: int, *, source: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.2", port, local_addr=(source, 0))
    writer.write(b"CONNECT 192.0.2.1:443 HTTP/1.1\r\nHost: 192.0.2.1:443\r\n\r\n")
    try:
        return await reader.read(64)
    except ConnectionResetError:
        return b""
    finally:
        writer.close()
