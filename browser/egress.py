"""The only way out for the pool's browsers: a proxy on loopback that dials what `EgressRule` lets pass.

Checks of URLs in the browser see names, not addresses, and not every way: redirects, frames, sockets and pop-ups go
round them. All of these connect, and a connection goes through here. TLS stays end to end: the proxy sees host and
port, and passes bytes.

Invariant: no connection is opened but to an address that the rule has just given. What is refused and what cannot be
reached look the same to a page; `failure()` tells the difference to the user.

It asks for no password: Chromium would have every request paused to give one, which switches its HTTP cache off. What
another program of this machine could reach through it, it reaches without it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from types import TracebackType
from typing import Any, Self

from aiohappyeyeballs import start_connection
from yarl import URL

from browser.egress_request import MAX_HEAD_BYTES, EgressRequest, read_request
from browser.egress_rule import EgressRule, is_public
from browser.errors import AddressRefused
from browser.failure import describe
from speccache.store import Store

# Without a body: Chromium then shows a page of its own, and the load fails instead of being read (RFC 9209 has the
# header, which tells this answer from a server's).
REFUSAL = (
    b"HTTP/1.1 403 Forbidden\r\nProxy-Status: speccache; error=http_request_denied\r\n"
    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
)
"""The one answer where no connection is made, whatever the reason."""

_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
_CHUNK_BYTES = 64 * 1024
_HAPPY_EYEBALLS_SECONDS = 0.25  # RFC 8305, section 8
_MAX_FAILURES = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """Both directions of one connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


Connect = Callable[[Sequence[str], int], Awaitable[Connection]]
"""Connects to one of several IP addresses, at a port; raises `OSError` where none answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressLimits:
    """What bounds a proxy.

    Attributes:
        connections: Of browsers, at once; further ones are closed.
        head_seconds: How long a browser may take to say where a new connection leads.
        connect_seconds: How long resolving and dialling may take.
        idle_seconds: How long a connection may be open without a byte in either direction.
        close_seconds: How long `aclose()` waits for connections to end.
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


async def connect(addresses: Sequence[str], port: int) -> Connection:
    """Connect to the first of these IP addresses that answers (RFC 8305).

    Raises:
        OSError: None does.
    """
    found = [_address_info(address, port) for address in addresses]
    chosen = await start_connection(found, happy_eyeballs_delay=_HAPPY_EYEBALLS_SECONDS, interleave=1)
    reader, writer = await asyncio.open_connection(sock=chosen, limit=MAX_HEAD_BYTES)
    return Connection(reader=reader, writer=writer)


def _address_info(address: str, port: int) -> tuple[socket.AddressFamily, socket.SocketKind, int, str, Any]:
    is_ipv4 = ip_address(address).version == 4
    place = (address, port) if is_ipv4 else (address, port, 0, 0)
    family = socket.AF_INET if is_ipv4 else socket.AF_INET6
    return family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", place


class EgressProxy:
    """A forward proxy for HTTP and tunnels.

    Use it as `async with EgressProxy(rule) as egress:`, and give browsers `egress.url`.

    Resource handling: owns its port and every connection; all are gone when the block ends.

    Args:
        rule: What may be dialled; hosts are named to it while the proxy runs.
        limits: What bounds it.
        connect: What dials.
    """

    def __init__(self, rule: EgressRule, *, limits: EgressLimits | None = None, connect: Connect = connect) -> None:
        self.rule = rule
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
        return f"http://127.0.0.1:{self._port}"

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
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=MAX_HEAD_BYTES)
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

    async def _serve(self, client: Connection) -> None:
        async with self._closing(client):
            async with asyncio.timeout(self._limits.head_seconds):
                request = await read_request(client.reader)
            if request is None:
                return
            server = await self._dial(request.url)
            if server is None:
                client.writer.write(REFUSAL)
                return
            async with self._closing(server):
                await self._relay(request, client, server)

    async def _dial(self, url: URL) -> Connection | None:
        try:
            async with asyncio.timeout(self._limits.connect_seconds):
                addresses = await self.rule.addresses(url)
                self._check_itself(url, addresses)
                server = await self._connect(addresses, url.port or 0)
        except AddressRefused as refused:
            self._refused += 1
            self._failures.put(_place(url), f"{refused}.")
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

    def _check_itself(self, url: URL, addresses: Sequence[str]) -> None:
        if url.port == self._port and not any(map(is_public, addresses)):
            raise AddressRefused(f"{url} was not opened: it is the browser's own proxy", url=str(url))

    async def _relay(self, request: EgressRequest, client: Connection, server: Connection) -> None:
        async with asyncio.timeout(self._limits.idle_seconds) as deadline:

            def progress() -> None:
                if not deadline.expired():
                    deadline.reschedule(asyncio.get_running_loop().time() + self._limits.idle_seconds)

            if request.tunnel:
                client.writer.write(_ESTABLISHED)
                asking = _copy(client.reader, server.writer, progress)
            else:
                asking = _ask(request, client.reader, server.writer, progress)
            await _until_one_ends(asking, _copy(server.reader, client.writer, progress))

    @asynccontextmanager
    async def _closing(self, connection: Connection) -> AsyncIterator[None]:
        """Close a connection at the end of the block, and let its last bytes arrive where no one has given up."""
        writer = connection.writer
        try:
            yield
            writer.close()
            async with asyncio.timeout(self._limits.idle_seconds):
                await writer.wait_closed()
        except OSError:
            pass  # the other side is gone, or did not go on in time
        finally:
            writer.transport.abort()


async def _ask(
    request: EgressRequest, source: asyncio.StreamReader, sink: asyncio.StreamWriter, progress: Callable[[], None]
) -> None:
    """Send requests on for as long as they go to the same place; a browser asks for another one on a new connection."""
    place = _place(request.url)
    following: EgressRequest | None = request
    while following is not None and not following.tunnel and _place(following.url) == place:
        sink.write(following.head)
        with suppress(OSError):
            await sink.drain()
        await _copy(source, sink, progress, max_bytes=following.body_bytes)
        following = await read_request(source)


async def _copy(
    source: asyncio.StreamReader,
    sink: asyncio.StreamWriter,
    progress: Callable[[], None],
    *,
    max_bytes: int | None = None,
) -> None:
    """Pass bytes on until the source ends, the sink is gone, or this many have passed."""
    left = max_bytes
    with suppress(OSError):
        while left != 0:
            data = await source.read(_CHUNK_BYTES if left is None else min(_CHUNK_BYTES, left))
            if not data:
                return
            left = None if left is None else left - len(data)
            sink.write(data)
            await sink.drain()
            progress()


async def _until_one_ends(*flows: Coroutine[Any, Any, None]) -> None:
    tasks = [asyncio.create_task(flow, name="egress flow") for flow in flows]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()


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
