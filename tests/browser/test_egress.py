"""The way out: what may be dialled, and that nothing of a browser goes round it."""

from __future__ import annotations

import asyncio
import socket
import ssl
import tracemalloc
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address

import aiohttp
import pytest
import trustme
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from playwright.async_api import Browser, Page, async_playwright
from playwright.async_api import Error as PlaywrightError
from yarl import URL

from browser.egress.connection import Connection, connect
from browser.egress.proxy import REFUSAL, EgressLimits, EgressProxy
from browser.egress.request import MAX_HEAD_BYTES, parse_request
from browser.egress.rule import EgressRule, is_public
from browser.engine.chromium import find_chromium
from browser.errors import AddressRefused
from browser.page import INIT_SCRIPT, load
from tests.browser.pages import Site

PUBLIC = "93.184.216.34"
OTHER_PUBLIC = "2606:2800:21f:cb07:6820:80da:af6b:8b2c"
PRIVATE = "127.0.0.1"


@dataclass(slots=True)
class Names:
    """A name service whose answers a test writes down; a list of several is given out one answer after the other."""

    answers: Mapping[str, Sequence[Sequence[str]]]
    asked: list[str] = field(default_factory=list)

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        try:
            answers = self.answers[host]
        except KeyError:
            raise socket.gaierror(socket.EAI_NONAME, "unknown") from None
        return answers[min(self.asked.count(host), len(answers)) - 1]


@dataclass(slots=True)
class Internet:
    """Dials public addresses on loopback instead, where the tests' servers are, and any other as it is."""

    dialled: list[tuple[str, ...]] = field(default_factory=list)

    async def __call__(self, addresses: Sequence[str], port: int) -> Connection:
        self.dialled.append(tuple(addresses))
        return await connect([PRIVATE if is_public(address) else address for address in addresses], port)


NAMES = {
    "public.test": [[PUBLIC]],
    "sub.public.test": [[PUBLIC]],
    "private.test": [[PRIVATE]],
    "mixed.test": [[PUBLIC, PRIVATE]],
    "localhost": [[PRIVATE]],
}


@asynccontextmanager
async def outlet(
    *named: str, limits: EgressLimits | None = None, rule: EgressRule | None = None
) -> AsyncIterator[EgressProxy]:
    rule = rule or EgressRule(resolve=Names(NAMES))
    rule.allow(named)
    async with EgressProxy(rule, limits=limits, connect=Internet()) as egress:
        yield egress
    assert egress.statistics().open == 0


@asynccontextmanager
async def connected(egress: EgressProxy) -> AsyncIterator[Connection]:
    reader, writer = await asyncio.open_connection(PRIVATE, URL(egress.url).port)
    yield Connection(reader=reader, writer=writer)
    writer.transport.abort()


async def answer(egress: EgressProxy, head: bytes) -> bytes:
    async with connected(egress) as connection:
        connection.writer.write(head)
        return await connection.reader.read()


# The rule


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "10.0.0.1",
        "100.64.0.1",
        "127.0.0.1",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.1",
        "192.0.0.192",
        "192.168.1.1",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:0:7f00:1",
        "::7f00:1",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::a00:1",
        "2002:7f00:1::",
        "2001:0:7f00:1::",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
        "no-address",
    ],
)
def test_an_address_that_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", [PUBLIC, OTHER_PUBLIC, "1.1.1.1", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::"]
)
def test_a_public_address(address: str) -> None:
    assert is_public(address)


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_judged_alike_in_every_ipv6_form(address: IPv4Address) -> None:
    number = int(address)
    forms = [0xFFFF << 32 | number, number, 0x64FF9B << 96 | number, 0x2002 << 112 | number << 80]
    assert {is_public(str(IPv6Address(form))) for form in forms} == {is_public(str(address))}


async def test_a_name_is_refused_where_any_answer_is_private() -> None:
    rule = EgressRule(resolve=Names(NAMES))
    assert await rule.addresses(URL("https://public.test")) == [PUBLIC]
    for host in ("private.test", "mixed.test", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost"):
        with pytest.raises(AddressRefused, match="private address that you did not name"):
            await rule.addresses(URL(f"https://{host}"))


async def test_numeric_forms_are_what_the_system_makes_of_them() -> None:
    rule = EgressRule()
    for host in ("2130706433", "0177.0.0.1", "0x7f.1", "127.1"):
        with pytest.raises(AddressRefused):
            await rule.addresses(URL(f"https://{host}"))


@pytest.mark.parametrize("host", ["a..b", "x" * 70 + ".test"])
async def test_a_name_that_cannot_be_is_an_unknown_one(host: str) -> None:
    with pytest.raises(OSError, match=r"."):
        await EgressRule().addresses(URL(f"https://{host}"))


async def test_a_named_host_may_be_private_until_its_name_is_withdrawn() -> None:
    rule = EgressRule(resolve=Names(NAMES))
    rule.allow(["private.test", "127.0.0.1"])
    rule.allow(["PRIVATE.test."])
    rule.withdraw(["private.test"])
    assert await rule.addresses(URL("http://private.test:8080")) == [PRIVATE]
    assert await rule.addresses(URL("http://127.0.0.1:9")) == (PRIVATE,)
    rule.withdraw(["private.test"])
    with pytest.raises(AddressRefused):
        await rule.addresses(URL("http://private.test:8080"))


async def test_a_page_kept_by_others_is_let_in_as_its_host_would_be() -> None:
    rule = EgressRule(resolve=Names(NAMES), denied_domains=["denied.test"])
    assert not await rule.lets(URL("http://private.test"), is_forwarded=False)
    assert not await rule.lets(URL("http://unknown.test"), is_forwarded=False)
    assert not await rule.lets(URL("http://a.denied.test"), is_forwarded=True)
    assert await rule.lets(URL("http://unknown.test"), is_forwarded=True)
    rule.allow(["private.test"])
    assert await rule.lets(URL("http://private.test"), is_forwarded=False)


async def test_a_named_host_with_mixed_answers_is_dialled_in_public_only() -> None:
    rule = EgressRule(resolve=Names(NAMES))
    rule.allow(["mixed.test"])
    assert await rule.addresses(URL("https://mixed.test")) == [PUBLIC]


async def test_a_named_host_seen_in_public_cannot_become_private() -> None:
    now = 0.0
    names = Names({"turning.test": [[PUBLIC], [PRIVATE]]})
    rule = EgressRule(resolve=names, clock=lambda: now)
    rule.allow(["turning.test"])
    assert await rule.addresses(URL("https://turning.test")) == [PUBLIC]
    now = 3600.0
    with pytest.raises(AddressRefused):
        await rule.addresses(URL("https://turning.test"))
    assert names.asked == ["turning.test"] * 2


async def test_an_answer_is_kept_for_a_minute_and_asked_for_once_by_many() -> None:
    now = 0.0
    names = Names(NAMES)
    rule = EgressRule(resolve=names, clock=lambda: now)
    async with asyncio.TaskGroup() as group:
        for _ in range(6):
            group.create_task(rule.addresses(URL("https://public.test")))
    assert names.asked == ["public.test"]
    now = 60.0
    await rule.addresses(URL("https://public.test"))
    assert names.asked == ["public.test"] * 2


async def test_a_host_that_could_not_be_reached_is_asked_for_anew() -> None:
    async def fail(addresses: Sequence[str], port: int) -> Connection:
        raise OSError(101, "unreachable")

    names = Names(NAMES)
    async with EgressProxy(EgressRule(resolve=names), connect=fail) as egress:
        for _ in range(2):
            assert await answer(egress, b"CONNECT public.test:443 HTTP/1.1\r\n\r\n") == REFUSAL
        assert "cannot be reached" in (egress.failure("https://public.test/") or "")
    assert names.asked == ["public.test"] * 2


async def test_lists_of_domains() -> None:
    rule = EgressRule(
        resolve=Names(NAMES), allowed_domains=["Public.test", "private.test"], denied_domains=["sub.public.test"]
    )
    assert await rule.addresses(URL("https://public.test")) == [PUBLIC]
    with pytest.raises(AddressRefused, match="among the domains you denied"):
        await rule.addresses(URL("https://sub.public.test"))
    with pytest.raises(AddressRefused, match="not among the domains you allowed"):
        await rule.addresses(URL("https://notpublic.test"))
    with pytest.raises(AddressRefused, match="private"):
        await rule.addresses(URL("https://private.test"))
    rule.allow(["localhost", "sub.public.test"])
    assert await rule.addresses(URL("http://localhost")) == [PRIVATE]
    with pytest.raises(AddressRefused):
        await rule.addresses(URL("https://sub.public.test"))


# Requests


def test_a_request_is_sent_on_in_the_form_servers_read() -> None:
    request = parse_request(
        b"POST http://public.test:81/a?b=%2f HTTP/1.1\r\nHost: other.test\r\nProxy-Connection: keep-alive\r\n"
        b"Proxy-Authorization: Basic x\r\nContent-Length: 3\r\nCookie: a=b; c=d\r\n\r\n"
    )
    assert request is not None
    assert request.url == URL("http://public.test:81/a?b=%2f")
    assert request.body_bytes == 3
    assert request.head == (
        b"POST /a?b=%2f HTTP/1.1\r\nHost: public.test:81\r\nConnection: keep-alive\r\n"
        b"Content-Length: 3\r\nCookie: a=b; c=d\r\n\r\n"
    )


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET http://a.test/ HTTP/1.0\r\n\r\n",
        b"GET http://user@a.test/ HTTP/1.1\r\n\r\n",
        b"GET ftp://a.test/ HTTP/1.1\r\n\r\n",
        b"GET https://a.test/ HTTP/1.1\r\n\r\n",
        b"GET http://a.test:99999/ HTTP/1.1\r\n\r\n",
        b"GET http://a.test/ HTTP/1.1\r\nA : b\r\n\r\n",
        b"GET http://a.test/ HTTP/1.1\r\nA: b\n\tc\r\n\r\n",
        b"GET http://a.test/ HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
        b"POST http://a.test/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST http://a.test/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        b"POST http://a.test/ HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
        b"CONNECT a.test HTTP/1.1\r\n\r\n",
        b"CONNECT user@a.test:1 HTTP/1.1\r\n\r\n",
        b"\xff\r\n\r\n",
    ],
)
async def test_what_is_no_request_ends_the_connection(head: bytes) -> None:
    assert parse_request(head) is None
    async with outlet() as egress:
        assert await answer(egress, head) == b""


# The proxy


async def test_requests_share_a_connection(site: Site) -> None:
    site.put("/one", "first")
    site.put("/two", "second")
    async with outlet("127.0.0.1") as egress, aiohttp.ClientSession() as session:
        for path in ("/one", "/two", "/one"):
            async with session.post(site.url(path), data=b"x" * 100_000, proxy=egress.url) as response:
                assert response.status == 200
                assert await response.text() in ("first", "second")
        assert egress.statistics().dialled == 1
    assert site.log == ["/one", "/two", "/one"]


async def test_a_request_for_another_host_needs_another_connection(site: Site) -> None:
    site.put("/", "there")
    other = site.other_url("/").encode()
    async with outlet("127.0.0.1", "localhost") as egress, connected(egress) as connection:
        connection.writer.write(b"GET %s HTTP/1.1\r\n\r\n" % site.url("/").encode())
        assert await connection.reader.readuntil(b"there")
        connection.writer.write(b"GET %s HTTP/1.1\r\n\r\n" % other)
        assert await connection.reader.read() == b""
    assert site.log == ["/"]


async def test_every_refusal_and_failure_looks_the_same_to_a_page(site: Site) -> None:
    nothing = socket.socket()
    nothing.bind((PRIVATE, 0))  # bound, not listening: it refuses connections
    refusing = f"127.0.0.1:{nothing.getsockname()[1]}"
    async with outlet("127.0.0.1") as egress:
        for place in ("private.test:80", "mixed.test:80", "unknown.test:80", refusing):
            assert await answer(egress, b"CONNECT %s HTTP/1.1\r\n\r\n" % place.encode()) == REFUSAL
            assert await answer(egress, b"GET http://%s/ HTTP/1.1\r\n\r\n" % place.encode()) == b""
        assert egress.failure("http://private.test/x") == (
            "http://private.test/ was not opened: private.test leads to a private address that you did not name."
        )
        assert "could not be resolved" in (egress.failure("http://unknown.test/") or "")
        assert "refused the connection" in (egress.failure(f"http://{refusing}/") or "")
        assert egress.failure("http://public.test/") is None
        assert egress.failure("http://[") is None
        assert (egress.statistics().refused, egress.statistics().failed) == (4, 4)
    nothing.close()


async def test_the_judged_address_is_dialled_whatever_the_name_says_next(site: Site) -> None:
    site.put("/", "there")
    names, internet = Names({"turning.test": [[PUBLIC], [PRIVATE]]}), Internet()
    async with EgressProxy(EgressRule(resolve=names), connect=internet) as egress, aiohttp.ClientSession() as session:
        url = URL(site.url("/")).with_host("turning.test")
        for _ in range(2):
            async with session.get(url, proxy=egress.url, headers={"Connection": "close"}) as response:
                assert await response.text() == "there"
    assert names.asked == ["turning.test"]
    assert internet.dialled == [(PUBLIC,), (PUBLIC,)]


async def test_it_does_not_dial_itself() -> None:
    async with outlet("127.0.0.1") as egress:
        place = egress.url.removeprefix("http://").encode()
        assert await answer(egress, b"CONNECT %s HTTP/1.1\r\n\r\n" % place) == REFUSAL


async def test_a_large_download_passes_in_bounded_memory(site: Site) -> None:
    chunk = bytes(256 * 1024)

    async def large(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(200):
            await response.write(chunk)
        return response

    site.put_answer("/large", large)
    async with outlet("127.0.0.1") as egress, aiohttp.ClientSession() as session:
        tracemalloc.start()
        async with session.get(site.url("/large"), proxy=egress.url) as response:
            received = 0
            async for data in response.content.iter_chunked(64 * 1024):
                received += len(data)
        peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert received == 200 * len(chunk)
    assert peak_bytes < 4 * 1024 * 1024


async def test_heads_and_connections_are_bounded() -> None:
    async with outlet(limits=EgressLimits(connections=1)) as egress:
        head = b"GET http://a.test/ HTTP/1.1\r\nA: " + b"a" * 2 * MAX_HEAD_BYTES
        async with connected(egress) as first:
            first.writer.write(head)
            async with connected(egress) as second:
                assert await _gone(second)
            assert await _gone(first)


async def test_a_connection_that_says_nothing_is_closed() -> None:
    async with outlet(limits=EgressLimits(head_seconds=0.01)) as egress, connected(egress) as connection:
        assert await _gone(connection)


async def test_a_server_that_cannot_be_dialled_in_time_is_a_failure() -> None:
    async def hang(addresses: Sequence[str], port: int) -> Connection:
        await asyncio.Event().wait()
        raise AssertionError

    limits = EgressLimits(connect_seconds=0.01)
    async with EgressProxy(EgressRule(resolve=Names(NAMES)), limits=limits, connect=hang) as egress:
        assert await answer(egress, b"CONNECT public.test:443 HTTP/1.1\r\n\r\n") == REFUSAL
        assert "did not answer in time" in (egress.failure("https://public.test/") or "")


async def test_an_idle_tunnel_is_closed() -> None:
    limits = EgressLimits(idle_seconds=0.01)
    async with outlet(PRIVATE, limits=limits) as egress, silent_server() as server, tunnel(egress, server) as idle:
        assert await _gone(idle)


async def test_when_one_side_ends_so_does_the_other() -> None:
    async with outlet(PRIVATE) as egress, silent_server() as server:
        async with tunnel(egress, server) as connection:
            (await server.accepted.get()).writer.transport.abort()
            assert await _gone(connection)
        async with tunnel(egress, server) as connection:
            accepted = await server.accepted.get()
            connection.writer.transport.abort()
            assert await _gone(accepted)


@pytest.mark.parametrize("where", ["head", "resolve", "connect", "relay"])
async def test_closing_ends_everything(where: str) -> None:
    reached, never = asyncio.Event(), asyncio.Event()

    async def resolve(host: str) -> Sequence[str]:
        if where == "resolve":
            reached.set()
            await never.wait()
        return [PUBLIC]

    async def dial(addresses: Sequence[str], port: int) -> Connection:
        if where == "connect":
            reached.set()
            await never.wait()
        return await connect([PRIVATE], port)

    egress = EgressProxy(EgressRule(resolve=resolve), connect=dial)
    async with egress, silent_server() as server, connected(egress) as connection:
        if where != "head":
            connection.writer.write(b"CONNECT public.test:%d HTTP/1.1\r\n\r\n" % server.port)
        if where == "relay":
            await server.accepted.get()
        elif where != "head":
            await reached.wait()
        await egress.aclose()
        assert await _gone(connection)
        await egress.aclose()
    assert egress.statistics().open == 0


@dataclass(slots=True)
class SilentServer:
    """Accepts connections, and says nothing."""

    port: int
    accepted: asyncio.Queue[Connection]


@asynccontextmanager
async def silent_server() -> AsyncIterator[SilentServer]:
    accepted: asyncio.Queue[Connection] = asyncio.Queue()
    writers = []

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        accepted.put_nowait(Connection(reader=reader, writer=writer))

    server = await asyncio.start_server(accept, PRIVATE, 0)
    yield SilentServer(port=server.sockets[0].getsockname()[1], accepted=accepted)
    server.close()
    for writer in writers:
        writer.transport.abort()


@asynccontextmanager
async def tunnel(egress: EgressProxy, server: SilentServer) -> AsyncIterator[Connection]:
    async with connected(egress) as connection:
        connection.writer.write(b"CONNECT 127.0.0.1:%d HTTP/1.1\r\n\r\n" % server.port)
        await connection.reader.readuntil(b"\r\n\r\n")
        yield connection


async def _gone(connection: Connection) -> bool:
    try:
        return await connection.reader.read() == b""
    except ConnectionError:
        return True


# Chromium


@pytest.fixture(scope="module")
async def egress() -> AsyncIterator[EgressProxy]:
    async with outlet() as egress:
        yield egress


@pytest.fixture(scope="module")
async def fenced(egress: EgressProxy) -> AsyncIterator[Browser]:
    """A browser whose only way out is the proxy, as the pool launches it."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=find_chromium().executable, proxy={"server": egress.url}
        )
        yield browser
        await browser.close()


@pytest.fixture
async def page(fenced: Browser) -> AsyncIterator[Page]:
    context = await fenced.new_context(ignore_https_errors=True)
    await context.add_init_script(INIT_SCRIPT)
    yield await context.new_page()
    await context.close()


def public(site: Site, path: str) -> str:
    return str(URL(site.url(path)).with_host("public.test"))


WAYS = {
    "redirect": "<script>location = '/redirect'</script>",
    "script": "<script src='{url}'></script>",
    "navigation": "<script>location = '{url}'</script>",
    "refresh": "<meta http-equiv=refresh content='0; url={url}'>",
    "iframe": "<iframe src='{url}'></iframe>",
    "image": "<img src='{url}'>",
    "fetch": "<script>fetch('{url}', {{mode: 'no-cors'}}).catch(() => 0)</script>",
    "xhr": "<script>const x = new XMLHttpRequest; x.open('GET', '{url}'); x.send()</script>",
    "popup": "<script>window.open('{url}')</script>",
    "beacon": "<script>navigator.sendBeacon('{url}', 'x')</script>",
    "form": "<form method=post action='{url}'></form><script>document.forms[0].submit()</script>",
}


@pytest.mark.parametrize("named", [False, True], ids=["unnamed", "named"])
@pytest.mark.parametrize("way", WAYS)
async def test_no_way_leads_a_browser_round_it(
    page: Page, site: Site, egress: EgressProxy, way: str, named: bool
) -> None:
    secret = site.url("/secret")
    site.put("/secret", "secret")
    site.put("/redirect", "", status=302, headers={"Location": secret})
    site.put("/", WAYS[way].format(url=secret))
    ended = asyncio.Event()

    def on_end(url: str) -> None:
        if url == secret:
            ended.set()

    page.context.on("requestfinished", lambda request: on_end(request.url))
    page.context.on("requestfailed", lambda request: on_end(request.url))
    hosts = [PRIVATE] if named else []
    egress.rule.allow(hosts)
    await page.context.grant_permissions(["local-network-access"])
    await page.goto(public(site, "/"), wait_until="commit")
    await ended.wait()
    egress.rule.withdraw(hosts)
    assert ("/secret" in site.log) is named
    assert (egress.failure(secret) is None) is named


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "2130706433", "0177.0.0.1", "0x7f000001", "127.1", "[::ffff:127.0.0.1]", "[::1]", "localhost"]
)
async def test_no_spelling_of_loopback_is_opened(page: Page, site: Site, egress: EgressProxy, host: str) -> None:
    site.put("/secret", "secret")
    url = site.url("/secret").replace("127.0.0.1", host)
    failed: list[str] = []
    page.on("requestfailed", lambda request: failed.append(request.url))
    document = await load(page, url)
    assert document.problem is not None
    assert "ERR_EMPTY_RESPONSE" in document.problem
    assert "private address that you did not name" in (egress.failure(failed[0]) or "")
    assert site.log == []


@pytest.mark.parametrize("host", ["private.test", "mixed.test", "unknown.test"])
async def test_no_name_of_loopback_is_opened(page: Page, site: Site, egress: EgressProxy, host: str) -> None:
    site.put("/secret", "secret")
    url = site.url("/secret").replace("127.0.0.1", host)
    assert (await load(page, url)).problem is not None
    assert (await load(page, url.replace("http:", "https:"))).problem is not None
    assert egress.failure(url) is not None
    assert site.log == []


async def test_a_failed_load_names_the_address_it_failed_at(page: Page, site: Site, egress: EgressProxy) -> None:
    secret = site.url("/secret")
    failed: list[str] = []
    page.on("requestfailed", lambda request: failed.append(request.url))
    for url in (secret, secret.replace("http:", "https:")):
        site.put("/", "", status=302, headers={"Location": url})
        with pytest.raises(PlaywrightError, match=r"ERR_EMPTY_RESPONSE|ERR_TUNNEL_CONNECTION_FAILED"):
            await page.goto(public(site, "/"), wait_until="commit")
        assert failed.pop() == url
        assert egress.failure(url) is not None


async def test_a_named_loopback_goes_through_it_too(page: Page, site: Site, egress: EgressProxy) -> None:
    site.put("/", "<title>here</title>text")
    before = egress.statistics().dialled
    egress.rule.allow([PRIVATE])
    document = await load(page, site.url("/"))
    egress.rule.withdraw([PRIVATE])
    assert (document.title, document.status) == ("here", 200)
    assert egress.statistics().dialled > before


@pytest.mark.parametrize("host", ["public.test", PRIVATE], ids=["public", "private"])
async def test_web_sockets(page: Page, site: Site, host: str) -> None:
    async def echo(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            await socket.send_str(message.data)
        return socket

    site.put_answer("/echo", echo)
    site.put("/", "")
    await page.context.grant_permissions(["local-network-access"])
    await page.goto(public(site, "/"))
    address = str(URL(site.url("/echo")).with_host(host)).replace("http:", "ws:")
    heard = await page.evaluate(
        """address => new Promise(resolve => {
            const socket = new WebSocket(address)
            socket.onopen = () => socket.send('hello')
            socket.onmessage = event => { resolve(event.data); socket.close() }
            socket.onerror = () => resolve('closed')
        })""",
        address,
    )
    assert heard == ("hello" if host == "public.test" else "closed")
    assert ("/echo" in site.log) is (host == "public.test")


async def test_tls_is_end_to_end(page: Page, egress: EgressProxy) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("public.test").configure_cert(context)
    seen: list[str | None] = []
    context.sni_callback = lambda _socket, name, _context: seen.append(name)
    hello: Callable[[web.BaseRequest], asyncio.Future[web.StreamResponse]] = _hello  # type: ignore[assignment]
    server = await asyncio.get_running_loop().create_server(web.Server(hello), PRIVATE, 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    document = await load(page, f"https://public.test:{port}/")
    assert document.markdown == "hello"
    assert set(seen) == {"public.test"}
    refused = await load(page, f"https://127.0.0.1:{port}/")
    assert "ERR_TUNNEL_CONNECTION_FAILED" in (refused.problem or "")
    assert "private address" in (egress.failure(f"https://127.0.0.1:{port}/") or "")
    server.close()


async def _hello(_: web.BaseRequest) -> web.StreamResponse:
    return web.Response(text="<p>hello", content_type="text/html", headers={"Connection": "close"})
