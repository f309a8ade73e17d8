"""Browsers elsewhere, as far as loopback is elsewhere: Playwright servers and a browser with a debugging port."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import playwright
import psutil
from playwright._impl._driver import compute_driver_executable

from browser.engine.chromium import find_chromium
from browser.remote.endpoint import Endpoint, parse_endpoint

_SHELL = "chrome-headless-shell"
_PLATFORMS = ("linux64", "linux-arm64", "mac-x64", "mac-arm64")
# What a server of another version says, word for word.
OTHER_VERSION = """╔════════════════════════════════════════════════════╗
║ Playwright version mismatch:                       ║
║   - server version: v1.50                          ║
║   - client version: v1.65                          ║
║                                                    ║
║ If you are using VSCode extension, restart VSCode. ║
║                                                    ║
║ If you are connecting to a remote service,         ║
║ keep your local Playwright version in sync         ║
║ with the remote service version.                   ║
║                                                    ║
║ <3 Playwright Team                                 ║
╚════════════════════════════════════════════════════╝"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A browser, or a server of them, that runs.

    Attributes:
        process: Its main process.
        address: Where it is.
    """

    process: asyncio.subprocess.Process
    address: str

    def endpoint(self, more: str = "") -> Endpoint:
        return parse_endpoint(self.address + more)

    @property
    def browsers(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children()

    async def kill(self) -> None:
        self.process.kill()
        await self.process.wait()


@asynccontextmanager
async def served(*argv: str | Path, said: str, environment: dict[str, str] | None = None) -> AsyncIterator[Served]:
    """Run a program that says where it listens; it is killed at the end."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        env={**os.environ, **(environment or {})},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        assert process.stdout is not None
        while not (found := re.search(said, (line := await process.stdout.readline()).decode())):
            assert line, "it ended before it said where it listens"
        yield Served(process=process, address=found[1])
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@asynccontextmanager
async def playwright_server(folder: Path) -> AsyncIterator[Served]:
    """Start what `playwright run-server` starts, with this machine's Chromium where it looks for its own."""
    listed = Path(playwright.__file__).parent / "driver" / "package" / "browsers.json"
    revision = next(
        browser["revision"]
        for browser in json.loads(listed.read_text(encoding="utf-8"))["browsers"]
        if browser["name"] == "chromium-headless-shell"
    )
    home = folder / f"chromium_headless_shell-{revision}"
    for platform in _PLATFORMS:
        place = home / f"{_SHELL}-{platform}"
        place.mkdir(parents=True, exist_ok=True)
        if not (place / _SHELL).exists():
            (place / _SHELL).symlink_to(find_chromium().executable)
    (home / "INSTALLATION_COMPLETE").touch()
    node, script = compute_driver_executable()
    argv = (node, script, "run-server", "--host", "127.0.0.1", "--port", "0", "--unsafe")
    async with served(
        *argv, said=r"Listening on (ws://\S+)", environment={"PLAYWRIGHT_BROWSERS_PATH": str(folder)}
    ) as server:
        yield server


@asynccontextmanager
async def debugged_browser(folder: Path) -> AsyncIterator[Served]:
    """Start a browser with a debugging port."""
    argv = ("--headless", "--no-sandbox", "--remote-debugging-port=0", f"--user-data-dir={folder}", "about:blank")
    async with served(find_chromium().executable, *argv, said=r"listening on ws(://[\d.]+:\d+)/") as browser:
        yield Served(process=browser.process, address=f"http{browser.address}")


@asynccontextmanager
async def answering(answer: str) -> AsyncIterator[int]:
    """Listen at a port that answers every request like this."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer.encode())
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
