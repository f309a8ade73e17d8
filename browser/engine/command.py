"""Running another program to its end.

Invariant: when `run` returns, or is cancelled, neither the program nor anything it started is left.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

MAX_LINES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a program ended.

    Attributes:
        code: Its exit code; None where it could not be started or was stopped at its time limit.
        lines: The last lines it wrote, to either stream, without line ends.
    """

    code: int | None
    lines: tuple[str, ...]

    @property
    def reason(self) -> str:
        """Say in a line why it failed: what it calls an error, else the last it wrote, else its exit code."""
        written = [line.strip() for line in self.lines if line.strip()]
        errors = [line for line in written if re.match(r"(error|e|fatal): ", line, re.IGNORECASE)]
        return next(iter((*errors, *reversed(written))), f"exit code {self.code}")


async def run(
    argv: Sequence[str],
    *,
    timeout_seconds: float,
    environment: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] | None = None,
) -> Outcome:
    """Run a program without input and without a terminal, so that it can ask nothing.

    Args:
        argv: The program and its arguments.
        timeout_seconds: When to stop it.
        environment: Variables to add to this process's own.
        on_line: Called with each line as it is written.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
    except OSError as error:
        return Outcome(code=None, lines=(str(error),))
    lines: deque[str] = deque(maxlen=MAX_LINES)
    try:
        async with asyncio.timeout(timeout_seconds):
            await _follow(process, lines, on_line)
        return Outcome(code=process.returncode, lines=tuple(lines))
    except TimeoutError:
        return Outcome(code=None, lines=(*lines, f"stopped after {timeout_seconds:g} s"))
    finally:
        _kill_group(process)
        await process.wait()


async def _follow(
    process: asyncio.subprocess.Process, lines: deque[str], on_line: Callable[[str], None] | None
) -> None:
    assert process.stdout is not None  # noqa: S101 - asked for above; tells the type checker
    while raw := await _next_line(process.stdout):
        line = raw.decode(errors="replace").rstrip()
        lines.append(line)
        if on_line is not None:
            on_line(line)
    await process.wait()


async def _next_line(stream: asyncio.StreamReader) -> bytes:
    while True:
        with suppress(ValueError):  # longer than the reader keeps, which drops what it has of it
            return await stream.readline()


def _kill_group(process: asyncio.subprocess.Process) -> None:
    # The group outlives its leader: a driver's own children would go on downloading.
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
