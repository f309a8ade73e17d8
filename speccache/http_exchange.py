"""One HTTP/1.1 exchange: a request goes out, the whole response comes in, the connection closes.

Invariant: an exchange that is cancelled leaves no thread, task or connection behind. That is why it runs on asyncio's
streams and leaves only the parsing to `http.client`, which could not be interrupted while it waits.
"""

from __future__ import annotations

import asyncio
import io
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from socket import socket
from typing import cast
from urllib.parse import urlsplit

_CHUNK_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """A response.

    Attributes:
        status: The status code.
        headers: The header fields by lower-case name; repeated ones are joined by commas.
        body: The body, as it was before any transfer coding.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


async def exchange(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str],
    body: bytes | None = None,
    max_bytes: int,
    ssl_context: ssl.SSLContext | None = None,
) -> HttpResponse:
    """Send a request and read its response; redirects are not followed, and no proxy is used.

    Args:
        method: The method, a token.
        url: Where to, absolute and in ASCII, without fragment.
        headers: Further header fields, without line breaks.
        body: What to send along; None sends no body.
        max_bytes: What the response may occupy, header fields included.
        ssl_context: How to verify an `https` server; ignored for `http`.

    Raises:
        OSError: No connection, or it broke.
        HTTPException: What came is no HTTP response, is incomplete, or is too long.
    """
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    reader, writer = await asyncio.open_connection(
        parts.hostname, parts.port or (443 if secure else 80), ssl=ssl_context if secure else None
    )
    try:
        target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        fields = {"Host": parts.netloc, "Connection": "close", **headers}
        if body is not None:
            fields["Content-Length"] = str(len(body))
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
        writer.write("\r\n".join(lines).encode("latin-1") + (body or b""))
        await writer.drain()
        return _parse(await _receive(reader, max_bytes=max_bytes), method)
    finally:
        # All is read, or nothing more is wanted: a polite TLS goodbye would only take time.
        writer.transport.abort()


async def _receive(reader: asyncio.StreamReader, *, max_bytes: int) -> bytes:
    received = bytearray()
    while chunk := await reader.read(_CHUNK_BYTES):
        received += chunk
        if len(received) > max_bytes:
            raise HTTPException(f"The response is longer than {max_bytes} bytes")
    return bytes(received)


class _Received:
    """Stands in for the socket that `HTTPResponse` reads from."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._content)


def _parse(content: bytes, method: str) -> HttpResponse:
    response = HTTPResponse(cast("socket", _Received(content)), method=method)
    response.begin()
    body = response.read()
    fields: dict[str, str] = {}
    for name, value in response.getheaders():
        lower = name.lower()
        fields[lower] = f"{fields[lower]}, {value}" if lower in fields else value
    return HttpResponse(status=response.status, headers=fields, body=body)
