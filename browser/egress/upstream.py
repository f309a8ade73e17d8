"""A proxy of the user's own, through which the egress proxy reaches the network.

Invariant: the other proxy is told names, never asked for addresses: what it finds behind a name is its business. What a
name or a literal address says by itself was judged before.
"""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Literal
from urllib.parse import unquote
from urllib.request import getproxies, proxy_bypass

from python_socks import ProxyError, ProxyType
from python_socks.async_.asyncio import Proxy
from yarl import URL

from browser.egress.connection import Connection
from browser.egress.request import MAX_HEAD_BYTES, EgressRequest
from browser.errors import LaunchFailed

_SCHEMES: dict[str, Literal["http", "https", "socks5"]] = {
    "http": "http",
    "https": "https",
    "socks5": "socks5",
    "socks5h": "socks5",
}
_PORTS = {"http": 80, "https": 443, "socks5": 1080}


class UpstreamFailed(OSError):
    """The proxy could not be reached, or did not do what it was asked for; the message says so in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """A proxy, and who one is to it.

    Attributes:
        scheme: How it is spoken to.
        host: Where it is.
        port: Its port.
        user: The name it asks for; empty: none.
        password: Likewise.
    """

    scheme: Literal["http", "https", "socks5"]
    host: str
    port: int
    user: str = ""
    password: str = ""

    async def connect(self, url: URL, *, tunnel: bool) -> Connection:
        """Connect to a URL's host and port or, where requests for it go to the proxy itself, to the proxy.

        Raises:
            UpstreamFailed: That cannot be had.
        """
        try:
            if self.scheme == "socks5":
                return await self._connect_by_socks(url)
            context = ssl.create_default_context() if self.scheme == "https" else None
            reader, writer = await asyncio.open_connection(self.host, self.port, ssl=context, limit=MAX_HEAD_BYTES)
        except ProxyError as error:
            raise UpstreamFailed(f"{url.host} cannot be reached: {self} says: {error}") from error
        except OSError as error:
            raise UpstreamFailed(f"{self} cannot be reached: {error.strerror or error}") from error
        connection = Connection(reader=reader, writer=writer)
        if tunnel:
            await self._open_tunnel(url, connection)
        return connection

    async def _connect_by_socks(self, url: URL) -> Connection:
        proxy = Proxy(ProxyType.SOCKS5, self.host, self.port, self.user or None, self.password or None, rdns=True)
        connected = await proxy.connect(url.raw_host or "", url.port or 0)
        reader, writer = await asyncio.open_connection(sock=connected, limit=MAX_HEAD_BYTES)
        return Connection(reader=reader, writer=writer)

    async def _open_tunnel(self, url: URL, connection: Connection) -> None:
        place = f"[{url.raw_host}]:{url.port}" if ":" in (url.raw_host or "") else f"{url.raw_host}:{url.port}"
        try:
            connection.writer.write(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n".encode() + self._credentials())
            answer = await connection.reader.readuntil(b"\r\n\r\n")
        except (OSError, EOFError, asyncio.LimitOverrunError) as error:
            connection.writer.transport.abort()
            raise UpstreamFailed(f"{url.host} cannot be reached: {self} gives no answer") from error
        except BaseException:
            connection.writer.transport.abort()
            raise
        status = answer.split(b" ", 2)[1:2]
        if status != [b"200"]:
            connection.writer.transport.abort()
            said = answer.partition(b"\r\n")[0].decode("latin-1")
            raise UpstreamFailed(f"{url.host} cannot be reached: {self} says: {said}")

    def head(self, request: EgressRequest) -> bytes:
        """Return what to send on of a request: HTTP proxies want the whole address, and to know who asks."""
        if self.scheme == "socks5":
            return request.head
        line, _, rest = request.head.partition(b"\r\n")
        method, path, version = line.split(b" ")
        whole = str(request.url.origin()).encode() + path
        return b"%s %s %s\r\n%s" % (method, whole, version, rest.removesuffix(b"\r\n") + self._credentials())

    def _credentials(self) -> bytes:
        if not self.user:
            return b"\r\n"
        known = b64encode(f"{self.user}:{self.password}".encode())
        return b"Proxy-Authorization: Basic %s\r\n\r\n" % known

    def __str__(self) -> str:
        return f"the proxy {self.host}:{self.port}"

    def __repr__(self) -> str:
        return f"<Upstream {self.scheme} {self.host}:{self.port}>"


Route = Callable[[URL], Upstream | None]
"""Tells which proxy a URL is reached through; None: none."""


def parse_proxy(text: str) -> Upstream:
    """Read a proxy's address; without a scheme it is an HTTP proxy.

    Raises:
        ValueError: It is none; the message does not hold what may be a password.
    """
    try:
        url = URL(text if "://" in text else f"http://{text}")
        scheme, host, port = _SCHEMES.get(url.scheme), url.raw_host, url.explicit_port
    except ValueError:
        scheme = host = port = None
    if scheme is None or not host:
        raise ValueError("a proxy is written SCHEME://[USER:PASSWORD@]HOST:PORT, with http, https or socks5")
    return Upstream(
        scheme=scheme,
        host=host,
        port=port or _PORTS[scheme],
        user=unquote(url.raw_user or ""),
        password=unquote(url.raw_password or ""),
    )


def route_by(proxy: Upstream | None) -> Route:
    """Return the way through a proxy; without one, what `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` say.

    Raises:
        LaunchFailed: One of these is no proxy that can be used.
    """
    return (lambda _: proxy) if proxy is not None else _environment_route()


def _environment_route() -> Route:
    try:
        found = {kind: parse_proxy(text) for kind, text in getproxies().items() if kind in ("http", "https", "all")}
    except ValueError as error:
        hint = "Correct HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, or name another one with --proxy."
        raise LaunchFailed(f"the proxy that the environment names cannot be used: {error}", hint=hint) from error

    def route(url: URL) -> Upstream | None:
        host = url.raw_host or ""
        upstream = found.get(url.scheme) or found.get("all")
        return None if upstream is None or _is_loopback(host) or proxy_bypass(host) else upstream

    return route


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
