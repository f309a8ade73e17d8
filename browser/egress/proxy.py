"""The only way out for the pool's browsers: a proxy that dials what `EgressRule` lets pass.

It listens on loopback, or where browsers on other machines reach it, and then lets in nobody else; see `door`.

Checks of URLs in the browser see names, not addresses, and not every way: redirects, frames, sockets and pop-ups go
round them. All of these connect, and a connection goes through here. TLS stays end to end: the proxy sees host and
port, and passes bytes.

Invariant: no connection is opened but to an address that the rule has just given, or to a proxy of the user's own.
What is refused and what cannot be reached look the same to a page; `failure()` tells the difference to the user.

It asks for no password: Chromium would have every request paused to give one, which switches its HTTP cache off. What
another program of this machine could reach through it, it reaches without it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from types import TracebackType
from typing import Self

from yarl import URL

from browser.egress.connection import Connect, Connection, closing, connect, copy, until_one_ends
from browser.egress.door import Door, address_towards, own_address
from browser.egress.request import MAX_HEAD_BYTES, EgressRequest, read_request
from browser.egress.rule import EgressRule, is_public
from browser.egress.upstream import Route, Upstream, UpstreamFailed
from browser.errors import AddressRefused, LaunchFailed
from browser.reading.failure import describe
from speccache.store import Store

REFUSAL = (
    b"HTTP/1.1 403 Forbidden\r\nProxy-Status: speccache; error=http_request_denied\r\n"
    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
)
"""The answer to a tunnel that is not made, whatever the reason; the browser says ERR_TUNNEL_CONNECTION_FAILED.

A plain request gets none (ERR_EMPTY_RESPONSE): a browser would take an answer for the server's, and show it as a page.
"""

LOOPBACK = "127.0.0.1"
"""Where browsers of this machine reach it."""

_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
_MAX_FAILURES = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressLimits:
    """What bounds a proxy.

    Attributes:
        connections: Of browsers, at once; further ones are closed.
        head_seconds: How long a browser may take to say where a new connection leads.
        connect_seconds: How long resolving and dialling may take.
        idle_seconds: How long a connection may be open without a byte in either direction.
        close_seconds: How long a connection that ends may take to hand over its last bytes to a server.
    """

    connections: int = 400
    head_seconds: float = 30.0
    connect_seconds: float = 30.0
    idle_seconds: float = 300.0
    close_seconds: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressStatistics:
    """What a proxy has open and has done.

    Attributes:
        open: Connections of browsers that are open.
        dialled: Connections to servers that were made.
        refused: Requests that the rule refused.
        failed: Requests whose server could not be reached.
    """

    open: int
    dialled: int
    refused: int
    failed: int


class EgressProxy:
    """A forward proxy for HTTP and tunnels.

    Use it as `async with EgressProxy(rule) as egress:`, and give browsers `egress.url`.

    Resource handling: owns its port and every connection; all are gone when the block ends.

    Args:
        rule: What may be dialled; hosts are named to it while the proxy runs.
        limits: What bounds it.
        connect: What dials.
        route: Which other proxy a URL is reached through. That one looks the name up, so only what the name or a
            literal address says by itself is judged then.
        host: An address of this machine, at which it listens.
        guests: Other machines that may use it, by name or address.
    """

    def __init__(
        self,
        rule: EgressRule,
        *,
        limits: EgressLimits | None = None,
        connect: Connect = connect,
        route: Route = lambda _: None,
        host: str = LOOPBACK,
        guests: Collection[str] = (),
    ) -> None:
        self.rule = rule
        self._route = route
        self._host = host
        self._guests = guests
        self._door: Door | None = None
        self._limits = limits or EgressLimits()
        self._connect = connect
        self._server: asyncio.Server | None = None
        self._port = 0
        self._serving: set[asyncio.Task[None]] = set()
        self._failures: Store[str] = Store(max_entries=_MAX_FAILURES)
        self._dialled = self._refused = self._failed = 0

    @property
    def url(self) -> str:
        """The address browsers are given."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    def failure(self, url: str) -> str | None:
        """Say in a sentence why the last connection to a URL's host and port was not made; None where it was."""
        try:
            entry = self._failures.get(_place(URL(url)))
        except ValueError:
            return None
        return entry.value if entry else None

    def statistics(self) -> EgressStatistics:
        """Count what is open and what was done."""
        return EgressStatistics(
            open=len(self._serving), dialled=self._dialled, refused=self._refused, failed=self._failed
        )

    async def __aenter__(self) -> Self:
        self._host = await own_address(self._host)
        if self._host != LOOPBACK:
            self._door = Door({self._host, address_towards(self._host) or self._host, *self._guests})
        try:
            self._server = await asyncio.start_server(self._accept, self._host, 0, limit=MAX_HEAD_BYTES)
        except OSError as error:
            raise LaunchFailed(
                f"the browsers' proxy cannot listen at {self._host}: {error.strerror}",
                hint="Give --egress-host an address of this machine.",
            ) from error
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the port and every connection; may be called twice."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for task in self._serving:
            task.cancel()
        if self._serving:
            await asyncio.wait(self._serving, timeout=self._limits.close_seconds)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._server is None or len(self._serving) >= self._limits.connections:
            writer.transport.abort()
            return
        client = Connection(reader=reader, writer=writer)
        task = asyncio.get_running_loop().create_task(self._serve(client), name="egress")
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        task.add_done_callback(lambda _: writer.transport.abort())  # one cancelled before it begins closes nothing

    async def _serve(self, client: Connection) -> None:
        with suppress(OSError):  # one side broke off, or ran out of time: nobody is left to be told
            async with closing(client, flush_seconds=self._limits.idle_seconds):
                async with asyncio.timeout(self._limits.head_seconds):
                    peer = client.writer.get_extra_info("peername")  # None: it has hung up already
                    welcome = self._door is None or (peer is not None and await self._door.admits(peer[0]))
                    request = await read_request(client.reader) if welcome else None
                if request is not None:
                    await self._answer(request, client)

    async def _answer(self, request: EgressRequest, client: Connection) -> None:
        upstream = self._route(request.url)
        server = await self._dial(request, upstream)
        if server is None:
            client.writer.write(REFUSAL if request.tunnel else b"")
            return
        async with closing(server, flush_seconds=self._limits.close_seconds):
            await self._relay(request, client, server, upstream)
            client.writer.close()  # the browser shall not wait for what the server still has to take

    async def lets(self, url: URL) -> bool:
        """Tell whether a browser would be let through to a URL's host."""
        return await self.rule.lets(url, is_forwarded=self._route(url) is not None)

    async def _dial(self, request: EgressRequest, upstream: Upstream | None) -> Connection | None:
        url = request.url
        try:
            async with asyncio.timeout(self._limits.connect_seconds):
                server = await self._connected(request, upstream)
        except AddressRefused as refused:
            self._refused += 1
            self._failures.put(_place(url), f"{refused}.")
            return None
        except UpstreamFailed as failed:
            self._failed += 1
            self._failures.put(_place(url), f"{failed}.")
            return None
        except OSError as error:
            self._failed += 1
            self.rule.forget(url)
            reason = describe(_code(error), url=str(url), timeout_seconds=self._limits.connect_seconds)
            self._failures.put(_place(url), reason)
            return None
        self._dialled += 1
        self._failures.discard(_place(url))
        return server

    async def _connected(self, request: EgressRequest, upstream: Upstream | None) -> Connection:
        url = request.url
        if upstream is not None:
            self.rule.check(url)
            return await upstream.connect(url, tunnel=request.tunnel)
        addresses = await self.rule.addresses(url)
        self._check_itself(url, addresses)
        return await self._connect(addresses, url.port or 0)

    def _check_itself(self, url: URL, addresses: Sequence[str]) -> None:
        if url.port == self._port and not any(map(is_public, addresses)):
            raise AddressRefused(f"{url} was not opened: it is the browser's own proxy", url=str(url))

    async def _relay(
        self, request: EgressRequest, client: Connection, server: Connection, upstream: Upstream | None
    ) -> None:
        async with asyncio.timeout(self._limits.idle_seconds) as deadline:

            def progress() -> None:
                if not deadline.expired():
                    deadline.reschedule(asyncio.get_running_loop().time() + self._limits.idle_seconds)

            if request.tunnel:
                client.writer.write(_ESTABLISHED)
                asking = copy(client.reader, server.writer, progress)
            else:
                address = upstream.head if upstream else attrgetter("head")
                asking = _ask(request, client.reader, server.writer, progress, address=address)
            await until_one_ends(asking, copy(server.reader, client.writer, progress))


async def _ask(
    request: EgressRequest,
    source: asyncio.StreamReader,
    sink: asyncio.StreamWriter,
    progress: Callable[[], None],
    *,
    address: Callable[[EgressRequest], bytes],
) -> None:
    """Send requests on for as long as they go to the same place; a browser asks for another one on a new connection."""
    place = _place(request.url)
    following: EgressRequest | None = request
    while following is not None and not following.tunnel and _place(following.url) == place:
        sink.write(address(following))
        with suppress(OSError):
            await sink.drain()
        await copy(source, sink, progress, max_bytes=following.body_bytes)
        following = await read_request(source)


def _place(url: URL) -> str:
    return f"{url.raw_host}:{url.port}"


def _code(error: OSError) -> str:
    match error:
        case socket.gaierror():
            return "net::ERR_NAME_NOT_RESOLVED"
        case ConnectionRefusedError():
            return "net::ERR_CONNECTION_REFUSED"
        case TimeoutError():
            return "net::ERR_CONNECTION_TIMED_OUT"
        case _:
            return "net::ERR_ADDRESS_UNREACHABLE"
