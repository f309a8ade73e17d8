"""What a browser asks of its proxy: the head of one HTTP request, read strictly.

Invariant: what is sent on is framed by one Content-Length or has no body, so proxy and server cannot disagree on where
the next request begins; anything unusual is no request.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass

from yarl import URL

MAX_HEAD_BYTES = 64 * 1024
"""Of a request's head; the readers of both sides hold at most twice as much."""

_END = b"\r\n\r\n"
_LINE = re.compile(rb"([A-Z]+) (\S+) HTTP/1\.1")
_ABSOLUTE = re.compile(rb"http://([^/?#@\s]+)(/[^#\s]*)")
_AUTHORITY = re.compile(rb"[^/?#@\s]+:\d+")
_HEADER = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\r\n\0]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class EgressRequest:
    """One request to the proxy.

    Attributes:
        url: Where to; for a tunnel `https://host:port`.
        tunnel: Whether it asks for a tunnel (CONNECT).
        head: What to send on to the server; empty for a tunnel.
        body_bytes: How long a body follows.
    """

    url: URL
    tunnel: bool
    head: bytes = b""
    body_bytes: int = 0


async def read_request(reader: asyncio.StreamReader) -> EgressRequest | None:
    """Read the next request; None where there is none, or none that can be understood."""
    try:
        head = await reader.readuntil(_END)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None
    return parse_request(head)


def parse_request(head: bytes) -> EgressRequest | None:
    """Parse a head, its blank line included; None where it is no request to a proxy."""
    first, *lines = head.removesuffix(_END).split(b"\r\n")
    line = _LINE.fullmatch(first)
    headers = [_HEADER.fullmatch(each) for each in lines]
    if line is None or None in headers:
        return None
    method, target = line.groups()
    try:
        if method == b"CONNECT":
            return _tunnel(target)
        return _forward(method, target, [match.groups() for match in headers if match])
    except ValueError:  # a port or a host that cannot be
        return None


def _tunnel(target: bytes) -> EgressRequest | None:
    if _AUTHORITY.fullmatch(target) is None:
        return None
    return EgressRequest(url=URL(f"https://{target.decode('ascii')}"), tunnel=True)


def _forward(method: bytes, target: bytes, headers: list[tuple[bytes, ...]]) -> EgressRequest | None:
    absolute = _ABSOLUTE.fullmatch(target)
    if absolute is None:
        return None
    authority, path = absolute.groups()
    kept, lengths = [b"%s %s HTTP/1.1" % (method, path), b"Host: " + authority], []
    for name, value in headers:
        match name.lower():
            case b"transfer-encoding":
                return None  # browsers do not stream uploads over HTTP/1.1
            case b"host" | b"proxy-authorization":
                continue
            case b"proxy-connection":
                kept.append(b"Connection: " + value)
                continue
            case b"content-length":
                lengths.append(_length(value))
        kept.append(b"%s: %s" % (name, value))
    if len(lengths) > 1:
        return None
    return EgressRequest(
        url=URL(target.decode("ascii")), tunnel=False, head=b"\r\n".join(kept) + _END, body_bytes=sum(lengths)
    )


def _length(value: bytes) -> int:
    if not value.isdigit():
        raise ValueError(value)
    return int(value)
