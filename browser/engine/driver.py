"""Playwright's driver, a Node process: started when first needed, started anew after its death, never left behind.

Invariant: at most one runs at a time, and all that it and its browsers write for the moment is in the run's folder.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

import psutil
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Playwright, async_playwright

from browser.engine.closing import end_quietly
from browser.engine.driver_library import how_to_get, missing_library
from browser.engine.liveness import runs
from browser.engine.run_folder import VARIABLE
from browser.errors import LaunchFailed

_LENDING = threading.Lock()
_LENDING_POLL_SECONDS = 0.01


@dataclass(slots=True, kw_only=True, eq=False)
class RunningDriver:
    """A driver from its start to its end.

    Attributes:
        playwright: What it offers.
        process: It; None where it could not be found.
        silent: Whether it was found not to answer any more.
    """

    playwright: Playwright
    process: psutil.Process | None
    silent: bool = False

    @property
    def alive(self) -> bool:
        """Whether it runs, as far as is known."""
        return not self.silent and (self.process is None or runs(self.process))


class Driver:
    """The driver that is there when asked for.

    Args:
        folder: Where it and its browsers keep what they need for the moment.
        start_seconds: How long a start may take.
        close_seconds: How long it may take to answer, and to end by itself.

    Resource handling: owns the process; close it with `aclose()`.
    """

    def __init__(self, folder: Path, *, start_seconds: float, close_seconds: float) -> None:
        self._folder = folder
        self._start_seconds = start_seconds
        self._close_seconds = close_seconds
        self._starting = asyncio.Lock()
        self._current: RunningDriver | None = None
        self.starts = 0
        """How many times it has been started."""

    async def running(self) -> RunningDriver:
        """Return it, starting it first where it does not run.

        Raises:
            LaunchFailed: It does not start.
        """
        async with self._starting:
            if self._current is None or not self._current.alive:
                await self._end()
                self._current = await self._start()
                self.starts += 1
            return self._current

    async def check(self) -> None:
        """Ask it for a sign of life; without one it counts as dead."""
        running = self._current
        if running is None:
            return
        try:
            async with asyncio.timeout(self._close_seconds):
                context = await running.playwright.request.new_context()
                await context.dispose()
        except (PlaywrightError, TimeoutError):
            running.silent = True

    async def _start(self) -> RunningDriver:
        starter = async_playwright()
        try:
            async with _lent(self._folder), asyncio.timeout(self._start_seconds):
                playwright = await starter.start()
        except Exception as error:  # Playwright says by a plain one that its driver ended at once
            raise await _failure(error) from error
        # Where it dies, Playwright leaves the error of its own pipe unread, and asyncio would print that one.
        with suppress(AttributeError):
            attrgetter("_client._transport.on_error_future")(starter).add_done_callback(_read)
        return RunningDriver(playwright=playwright, process=await asyncio.to_thread(_process, self._folder))

    async def _end(self) -> None:
        running, self._current = self._current, None
        if running is None:
            return
        if running.alive:
            await end_quietly(running.playwright.stop(), seconds=self._close_seconds)
        # One that was stopped or hangs still holds its browsers.
        if running.process is not None and runs(running.process):
            with suppress(psutil.Error):
                running.process.kill()

    async def aclose(self) -> None:
        """End it; bounded in time, and may be called twice."""
        async with self._starting:
            await self._end()


async def _failure(error: Exception) -> LaunchFailed:
    """Say why it does not start: Playwright itself does not, as the driver's own complaint is only on stderr."""
    if library := await missing_library():
        reason, hint = f"the system's library {library} is missing", how_to_get(library)
    else:
        reason, hint = str(error) or "it does not answer", "Install the package `playwright` again."
    return LaunchFailed(f"Playwright's driver does not start: {reason}", hint=hint)


@asynccontextmanager
async def _lent(folder: Path) -> AsyncIterator[None]:
    """Name the folder in this process's environment, of which a driver that starts gets a copy; there is no other way.

    Two that start side by side would get each other's, so they take turns.
    """
    while not _LENDING.acquire(blocking=False):  # noqa: ASYNC110 - the environment belongs to no event loop
        await asyncio.sleep(_LENDING_POLL_SECONDS)
    tempfile.gettempdir()  # looks at the variable once and for all, and must not see this folder
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before
        _LENDING.release()


def _process(folder: Path) -> psutil.Process | None:
    """Find the driver that has just been started among the children of this process."""
    for child in psutil.Process().children():
        with suppress(psutil.Error):
            if child.environ().get(VARIABLE) == str(folder) and runs(child):
                return child
    return None


def _read(future: asyncio.Future[object]) -> None:
    if not future.cancelled():
        future.exception()
