"""Runs the real command line in a process of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.processes import browsers

SPECCACHE = Path(sys.executable).parent / "speccache"
_OWN = ("OPENAI_", "SPECCACHE_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a command ended."""

    code: int
    out: str
    err: str


@dataclass(slots=True)
class Running:
    """A command that runs."""

    process: asyncio.subprocess.Process

    async def result(self) -> Result:
        """Wait for its end; no error may have come as a traceback."""
        out, err = await self.process.communicate()
        assert b"Traceback" not in err, err.decode()
        return Result(code=self.process.returncode or 0, out=out.decode(), err=err.decode())

    def browsers(self) -> set[psutil.Process]:
        """The Chromium processes it has started."""
        return browsers(self.process.pid)


@asynccontextmanager
async def running(*words: str, cwd: Path, variables: Mapping[str, str] | None = None) -> AsyncIterator[Running]:
    """Start `speccache` with these words, in a folder and with no setting but the given ones."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OWN)}
    process = await asyncio.create_subprocess_exec(
        SPECCACHE,
        *words,
        cwd=cwd,
        env={**kept, "COLUMNS": "200", "NO_COLOR": "1", **(variables or {})},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield Running(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def speccache(*words: str, cwd: Path, variables: Mapping[str, str] | None = None) -> Result:
    """Run `speccache` to its end."""
    async with running(*words, cwd=cwd, variables=variables) as command:
        return await command.result()
