"""The protocol over standard input and output.

Invariant: while it runs, nothing but the protocol reaches standard output, and nothing waits for standard input once
the server is to end. (The SDK's own reader blocks in a thread that cannot be cancelled: a signal would hang until the
client writes or leaves.)
"""

from __future__ import annotations

import asyncio
import io
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, cast

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server


async def serve_stdio(server: Server[Any]) -> None:
    """Serve the one client at the other end until it leaves."""
    with _taken(0, os.O_RDONLY, "rb") as source, _taken(1, os.O_WRONLY, "wb") as sink:
        lines: Any = _Lines(source)  # the SDK only iterates over it
        output = anyio.wrap_file(io.TextIOWrapper(sink, encoding="utf-8", newline="\n"))
        try:
            async with stdio_server(stdin=lines, stdout=output) as (read, write):
                await server.run(read, write, server.create_initialization_options())
        except* BrokenPipeError:
            pass  # it left without waiting for its answer


class _Lines:
    """The lines of a file, read by a thread that ends with the process at the latest."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[bytes] = asyncio.Queue()
        threading.Thread(target=self._read, name="read standard input", daemon=True).start()

    def _read(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            for line in self._file:
                self._loop.call_soon_threadsafe(self._queue.put_nowait, line)
            self._loop.call_soon_threadsafe(self._queue.put_nowait, b"")

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        line = await self._queue.get()
        if not line:
            raise StopAsyncIteration
        return line.decode("utf-8", "replace")


@contextmanager
def _taken(number: int, flags: int, mode: str) -> Iterator[BinaryIO]:
    """Take a standard stream for the protocol alone: whoever else uses it reads nothing, or writes to the error one."""
    own = os.dup(number)
    other = os.open(os.devnull, flags) if number == 0 else os.dup(2)
    os.dup2(other, number)
    os.close(other)
    # Never closed: the reading thread may still stand in it.
    file = cast("BinaryIO", os.fdopen(own, mode, closefd=False))
    try:
        yield file
    finally:
        os.dup2(own, number)
