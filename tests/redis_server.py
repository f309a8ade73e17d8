"""A real Redis (or Valkey) server on loopback that a test starts, kills and starts again."""

from __future__ import annotations

import asyncio
import shutil
import socket
from types import TracebackType
from typing import Self

import pytest

_BINARY = shutil.which("redis-server") or shutil.which("valkey-server")

needs_redis = pytest.mark.skipif(_BINARY is None, reason="needs redis-server or valkey-server; see scripts/setup")


class RedisServer:
    """Keeps everything in memory; a second start on the same port begins empty.

    Args:
        words: Its configuration, as `--name value`.
    """

    def __init__(self, *words: str) -> None:
        self._words = words
        self._process: asyncio.subprocess.Process | None = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    async def start(self) -> None:
        """Start it, and wait until it answers."""
        assert _BINARY is not None
        fixed = ("--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
        self._process = await asyncio.create_subprocess_exec(
            _BINARY, *fixed, *self._words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        assert self._process.stdout is not None
        said = b""
        while b"Ready to accept connections" not in said:
            said = await self._process.stdout.readline()
            assert said, "it has ended"

    async def kill(self) -> None:
        """Kill it, and wait until it is dead; may be called twice."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.communicate()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.kill()
