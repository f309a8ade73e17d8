"""The two connections that the egress proxy joins, and how bytes pass between them.

Invariant: what is held of a connection's bytes is bounded, however fast one side writes and however slowly the other
reads; and a connection that is closed here is gone, whatever its other side does.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from aiohappyeyeballs import start_connection

from browser.egress.request import MAX_HEAD_BYTES

_CHUNK_BYTES = 64 * 1024
_HAPPY_EYEBALLS_SECONDS = 0.25  # RFC 8305, section 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """Both directions of one connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


Connect = Callable[[Sequence[str], int], Awaitable[Connection]]
"""Connects to one of several IP addresses, at a port; raises `OSError` where none answers."""


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


@asynccontextmanager
async def closing(connection: Connection, *, flush_seconds: float) -> AsyncIterator[None]:
    """Close a connection at the end of the block.

    Args:
        connection: What to close.
        flush_seconds: How long its last bytes may take to leave, where the block ended well.
    """
    try:
        yield
        connection.writer.close()
        with suppress(OSError):
            async with asyncio.timeout(flush_seconds):
                await connection.writer.wait_closed()
    finally:
        connection.writer.transport.abort()


async def copy(
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


async def until_one_ends(*flows: Coroutine[Any, Any, None]) -> None:
    """Run flows until the first has ended; none is left, however this ends."""
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
