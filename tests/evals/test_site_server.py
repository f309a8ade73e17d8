from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import aiohttp
import pytest

from evals.site import LatencyModel, PortUnavailable, RequestRecord, Site, SiteServer, build_site

INSTANT = LatencyModel(time_scale=0)


@pytest.fixture(scope="module")
def site() -> Site:
    return build_site()


@pytest.fixture
async def server(site: Site) -> AsyncIterator[SiteServer]:
    async with SiteServer(site, latency=INSTANT) as server:
        yield server


@pytest.fixture
async def client(server: SiteServer) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(server.url) as session:
        yield session


async def test_every_page_path_gets_the_same_shell(site: Site, client: aiohttp.ClientSession) -> None:
    shells = set()
    for path in ("/en", "/en/team", "/en/handbook", "/en/visit/canteen"):
        async with client.get(path) as response:
            assert (response.status, response.content_type) == (200, "text/html")
            assert response.headers["Cache-Control"] == "no-cache"
            shells.add(await response.text())
    assert len(shells) == 1
    assert site.pages["/en/team"].title not in shells.pop().partition("<body>")[2]


async def test_an_unknown_page_is_a_404_with_the_shell(client: aiohttp.ClientSession) -> None:
    async with client.get("/en/nowhere") as response:
        assert response.status == 404
        assert "app.js" in await response.text()


@pytest.mark.parametrize(
    "path",
    [
        "/fr",
        "/static/shell.html",
        "/static/..%2Fserver.py",
        "/api/frames/fr",
        "/api/pages/en/nowhere",
        "/api/pages/en/handbook?route=/chapter/nowhere",
        "/api/collections/9/en",
        "/api/collections/0/en/nowhere",
    ],
)
async def test_what_does_not_exist_is_a_404(client: aiohttp.ClientSession, path: str) -> None:
    async with client.get(path) as response:
        assert response.status == 404


async def test_the_entrance_leads_to_the_english_root(client: aiohttp.ClientSession) -> None:
    async with client.get("/") as response:
        assert response.url.path == "/en"


async def test_listings_come_after_the_page_itself(client: aiohttp.ClientSession) -> None:
    async with client.get("/api/pages/en/news") as response:
        page = await response.json()
    (source,) = [block["source"] for block in page["blocks"] if block["kind"] == "collection"]
    async with client.get(source) as response:
        listing = await response.json()
    assert {entry["more"]["text"] for entry in listing["entries"]} == {"Read more"}


async def test_assets_may_be_cached(client: aiohttp.ClientSession) -> None:
    async with client.get("/static/app.js") as response:
        assert response.content_type == "text/javascript"
        assert "max-age" in response.headers["Cache-Control"]


async def test_requests_are_recorded_with_their_kind(server: SiteServer, client: aiohttp.ClientSession) -> None:
    headers = {"Sec-Purpose": "prefetch;prerender", "Cookie": "session=1", "X-Other": "no"}
    for path in ("/en", "/static/app.js", "/api/frames/en", "/api/pages/en", "/api/collections/0/en", "/robots.txt"):
        async with client.get(path, headers=headers):
            pass
    async with client.get("/api/pages/en/handbook?route=/chapter/travel"):
        pass
    kinds = [record.kind for record in server.requests]
    assert kinds == ["document", "static", "frame", "page", "collection", "other", "page"]
    assert server.requests[0].headers["sec-purpose"] == "prefetch;prerender"
    assert server.requests[0].headers["cookie"] == "session=1"
    assert "x-other" not in server.requests[0].headers
    assert server.page_loads() == {"/en": 1}
    assert server.data_loads() == {"/en": 1, "/en/handbook#/chapter/travel": 1}
    assert [record.at_seconds for record in server.requests] == sorted(record.at_seconds for record in server.requests)


async def test_traps_do_what_they_say_and_are_told(
    site: Site, server: SiteServer, client: aiohttp.ClientSession
) -> None:
    links = (*site.frames["en"].account, *site.frames["en"].footer)
    traps = [link.path for link in links if not link.path.startswith("/en")]
    assert len(traps) == 6
    for path in traps:
        async with client.get(path, allow_redirects=False) as response:
            assert response.status in (200, 303)
            effect = {"Set-Cookie", "Content-Disposition"} & set(response.headers)
            assert effect or response.headers["Cache-Control"] == "no-store"
    assert [record.path for record in server.trap_requests()] == traps
    assert not server.page_loads()


async def test_a_taken_port_is_a_clear_error(site: Site, server: SiteServer) -> None:
    port = int(server.url.rpartition(":")[2])
    with pytest.raises(PortUnavailable, match=f"cannot listen on 127.0.0.1:{port}") as caught:
        async with SiteServer(site, port=port):
            pass
    assert "another port" in caught.value.hint


async def test_it_closes_promptly_under_open_requests(site: Site) -> None:
    server = SiteServer(site, latency=LatencyModel(time_scale=1000))
    async with aiohttp.ClientSession() as session, server, asyncio.TaskGroup() as tasks:
        arrived = asyncio.Event()
        server.requests = _Announcing(arrived)
        # A kept-alive connection without a request, and one whose answer would take an hour.
        async with session.get(f"{server.url}/robots.txt") as response:
            await response.read()
        arrived.clear()
        waiting = tasks.create_task(_expect_disconnect(session, f"{server.url}/en"))
        await arrived.wait()
        started = time.monotonic()
        await server.__aexit__(None, None, None)
        assert time.monotonic() - started < 2
        await waiting
    assert repr(server) == "<SiteServer closed, 2 requests>"


class _Announcing(list[RequestRecord]):
    """A list that says when something was put into it."""

    def __init__(self, arrived: asyncio.Event) -> None:
        super().__init__()
        self._arrived = arrived

    def append(self, item: RequestRecord) -> None:
        super().append(item)
        self._arrived.set()


async def _expect_disconnect(session: aiohttp.ClientSession, url: str) -> None:
    with pytest.raises(aiohttp.ClientError):
        await session.get(url)
