"""A proxy of the user's own: everything goes through it, and what can be judged before is judged before."""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest
import trustme
from yarl import URL

from browser import Visit
from browser.egress.connection import Connection, closing, copy, until_one_ends
from browser.egress.proxy import EgressProxy
from browser.egress.rule import EgressRule
from browser.egress.upstream import Upstream, parse_proxy, route_by
from browser.environment import WebEnvironment
from browser.errors import AddressRefused, LaunchFailed
from browser.pool import BrowserPool, PoolOptions
from tests.browser.pages import Site

KNOWN = "Basic " + b64encode(b"me:p@ss").decode()
AUTHORITY = trustme.CA()


@dataclass(slots=True)
class UserProxy:
    """A proxy that knows one user, and finds every name on this machine."""

    asked: list[str] = field(default_factory=list)
    url: str = ""

    async def by_http(self, client: Connection) -> None:
        head = (await client.reader.readuntil(b"\r\n\r\n")).decode()
        line, *headers = head.split("\r\n")
        self.asked.append(line)
        if f"Proxy-Authorization: {KNOWN}" not in headers:
            client.writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            return
        method, target, _ = line.split(" ")
        port = URL(target if "://" in target else f"http://{target}").port or 0
        async with dialled(port) as server:
            if method == "CONNECT":
                client.writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                kept = [each for each in headers if not each.startswith("Proxy-") and each]
                path = URL(target).raw_path_qs
                server.writer.write(
                    "\r\n".join([f"{method} {path} HTTP/1.1", *kept, "Connection: close", "", ""]).encode()
                )
            await joined(client, server)

    async def by_socks(self, client: Connection) -> None:
        read, write = client.reader.readexactly, client.writer.write
        version, methods = await read(2)
        assert (version, 2 in await read(methods)) == (5, True)
        write(b"\x05\x02")
        assert await read(2) == b"\x01\x02"
        known = await read(2) == b"me" and await read((await read(1))[0]) == b"p@ss"
        write(b"\x01\x00" if known else b"\x01\x01")
        assert (await read(4))[3] == 3, "a name, not an address"
        host = (await read((await read(1))[0])).decode()
        port = int.from_bytes(await read(2), "big")
        self.asked.append(f"SOCKS {host}:{port}")
        async with dialled(port) as server:
            write(b"\x05\x00\x00\x01" + bytes(6))
            await joined(client, server)


@asynccontextmanager
async def dialled(port: int) -> AsyncIterator[Connection]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with closing(Connection(reader=reader, writer=writer), flush_seconds=1):
        yield Connection(reader=reader, writer=writer)


async def joined(client: Connection, server: Connection) -> None:
    ways = (client.reader, server.writer), (server.reader, client.writer)
    await until_one_ends(*(copy(*way, lambda: None) for way in ways))


Kind = Callable[[UserProxy, Connection], Awaitable[None]]


@asynccontextmanager
async def serving(kind: Kind, scheme: str) -> AsyncIterator[UserProxy]:
    proxy, tasks = UserProxy(), set[asyncio.Task[None]]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(task := asyncio.current_task())  # type: ignore[arg-type]
        client = Connection(reader=reader, writer=writer)
        try:
            async with closing(client, flush_seconds=1):
                await kind(proxy, client)
        except (OSError, EOFError):
            pass
        finally:
            tasks.discard(task)  # type: ignore[arg-type]

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    AUTHORITY.issue_cert("127.0.0.1").configure_cert(context)
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context if scheme == "https" else None)
    proxy.url = f"{scheme}://me:p%40ss@127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


@pytest.fixture(autouse=True)
def _trusted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    AUTHORITY.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))


KINDS = [
    pytest.param(UserProxy.by_http, "http", id="http"),
    pytest.param(UserProxy.by_http, "https", id="https"),
    pytest.param(UserProxy.by_socks, "socks5", id="socks5"),
]


@asynccontextmanager
async def outlet(proxy: str, *named: str) -> AsyncIterator[EgressProxy]:
    rule = EgressRule(denied_domains=["denied.test"])
    rule.allow(named)
    async with EgressProxy(rule, route=route_by(parse_proxy(proxy))) as egress:
        yield egress


@pytest.mark.parametrize(("kind", "scheme"), KINDS)
async def test_a_name_is_found_by_the_proxy(site: Site, kind: Kind, scheme: str) -> None:
    site.put("/page", "reached")
    place = f"name.test:{URL(site.origin).port}"
    async with AsyncExitStack() as stack:
        proxy = await stack.enter_async_context(serving(kind, scheme))
        egress = await stack.enter_async_context(outlet(proxy.url))
        client = await stack.enter_async_context(aiohttp.ClientSession())
        for _ in range(2):  # on one connection, where the proxy keeps it
            async with client.get(f"http://{place}/page?q", proxy=egress.url) as response:
                assert (response.status, await response.text()) == (200, "reached")
        reader, writer = await asyncio.open_connection("127.0.0.1", URL(egress.url).port)
        async with closing(Connection(reader=reader, writer=writer), flush_seconds=1):
            writer.write(f"CONNECT {place} HTTP/1.1\r\n\r\n".encode())
            assert b" 200 " in await reader.readline()
    tunnel = f"SOCKS {place}" if scheme == "socks5" else f"CONNECT {place} HTTP/1.1"
    assert proxy.asked[-1] == tunnel
    assert proxy.asked[0] == (tunnel if scheme == "socks5" else f"GET http://{place}/page?q HTTP/1.1")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://10.0.0.1/",
        "http://[::ffff:10.0.0.1]/",
        "http://printer.local/",
        "http://a.denied.test/",
    ],
)
async def test_what_a_name_says_by_itself_is_judged_before(url: str) -> None:
    async with serving(UserProxy.by_http, "http") as proxy, outlet(proxy.url) as egress:
        async with aiohttp.ClientSession() as client:
            with pytest.raises(aiohttp.ClientError):
                await client.get(url, proxy=egress.url)
        assert "was not opened" in (egress.failure(url) or "")
        assert proxy.asked == []


def test_a_named_host_may_be_private_behind_a_proxy_too() -> None:
    rule = EgressRule()
    rule.allow(["127.0.0.1"])
    rule.check(URL("http://127.0.0.1:8000/"))
    with pytest.raises(AddressRefused):
        rule.check(URL("http://127.0.0.2:8000/"))


@pytest.mark.parametrize(("kind", "scheme"), KINDS)
async def test_what_a_proxy_refuses_is_told(kind: Kind, scheme: str) -> None:
    async with serving(kind, scheme) as proxy, outlet(proxy.url.replace("p%40ss", "wrong")) as egress:
        reader, writer = await asyncio.open_connection("127.0.0.1", URL(egress.url).port)
        async with closing(Connection(reader=reader, writer=writer), flush_seconds=1):
            writer.write(b"CONNECT name.test:443 HTTP/1.1\r\n\r\n")
            assert b" 403 " in await reader.readline()
        told = egress.failure("https://name.test/") or ""
    assert told.startswith("name.test cannot be reached: the proxy 127.0.0.1:")
    assert "wrong" not in told


async def test_a_proxy_that_is_not_there_is_told_of() -> None:
    async with outlet("http://127.0.0.1:1") as egress, aiohttp.ClientSession() as client:
        with pytest.raises(aiohttp.ClientError):
            await client.get("http://name.test/", proxy=egress.url)
        assert "the proxy 127.0.0.1:1 cannot be reached" in (egress.failure("http://name.test/") or "")


@pytest.mark.parametrize(
    ("text", "proxy"),
    [
        ("proxy.test:3128", Upstream(scheme="http", host="proxy.test", port=3128)),
        ("https://proxy.test", Upstream(scheme="https", host="proxy.test", port=443)),
        ("socks5h://a%20b:c%3Ad@[::1]:9", Upstream(scheme="socks5", host="::1", port=9, user="a b", password="c:d")),
    ],
)
def test_the_address_of_a_proxy(text: str, proxy: Upstream) -> None:
    assert parse_proxy(text) == proxy
    assert "c:d" not in repr(parse_proxy(text))


@pytest.mark.parametrize("text", ["ftp://proxy.test", "http://", "http://me:secret@:80", "socks4://x", "http://x:port"])
def test_what_is_no_proxy(text: str) -> None:
    with pytest.raises(ValueError, match="SCHEME://") as error:
        parse_proxy(text)
    assert "secret" not in str(error.value)


def test_the_environments_proxies_are_chosen_as_browsers_do(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"http_proxy": "a.test:1", "all_proxy": "socks5://b.test", "no_proxy": ".local.test"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("https_proxy", raising=False)
    route = route_by(None)
    chosen = {
        url: route(URL(url)) for url in ("http://x.test", "https://x.test", "https://y.local.test", "http://[::1]")
    }
    assert [proxy.host if proxy else None for proxy in chosen.values()] == ["a.test", "b.test", None, None]
    monkeypatch.setenv("http_proxy", "socks4://a.test")
    with pytest.raises(LaunchFailed, match="environment"):
        route_by(None)


async def test_both_browsers_and_robots_txt_go_through_it(site: Site) -> None:
    site.put("/", "<a href=/ahead>Ahead</a>")
    site.put("/ahead", "<p>ahead</p>")
    async with serving(UserProxy.by_http, "http") as proxy:
        options = PoolOptions(speculation_slots=1, proxy=parse_proxy(proxy.url))
        async with BrowserPool(options) as pool:
            environment = WebEnvironment(pool, named_hosts={"127.0.0.1"})
            await environment.step(Visit(site.url("/")))
            assert "ahead" in (await environment.peek(Visit("1"))).text
            await environment.aclose()
    asked = [line.split(" ")[1] for line in proxy.asked]
    assert {site.url(path) for path in ("/", "/ahead", "/robots.txt")} <= set(asked)
    assert len(site.log) == len(asked), "nothing goes round it"
