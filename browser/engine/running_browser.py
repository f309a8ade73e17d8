"""One Chromium from its launch, or from connecting to it, to its end.

Invariant: it is closed by whoever takes its last slot away after it was retired, or with its pool, and then it is gone,
whether it answers or not; of one on another machine, the connection is.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass

import psutil
from playwright.async_api import Browser

from browser.engine.closing import end_quietly
from browser.engine.driver import RunningDriver
from browser.engine.liveness import runs
from browser.engine.recycling import Wear


@dataclass(slots=True, kw_only=True, eq=False)
class RunningBrowser:
    """A Chromium that was launched, or connected to.

    Attributes:
        browser: It, as Playwright sees it.
        driver: What it was launched by, and dies with.
        main: Its first process, which leads a process group of its own; None: it is not this machine's.
        proxy: What each of its contexts has to be told of the proxy that all requests go through; None: it knows.
        wear: What it has served.
        slots: Slots in it, also those that are being opened.
        retired: Whether it takes no more slots.
    """

    browser: Browser
    driver: RunningDriver
    main: psutil.Process | None
    wear: Wear
    proxy: str | None = None
    slots: int = 0
    retired: bool = False

    @property
    def alive(self) -> bool:
        """Whether it runs; Playwright notices late where it died, and not at all where its driver did."""
        return self.browser.is_connected() and self.driver.alive and (self.main is None or runs(self.main))

    async def aclose(self, *, seconds: float) -> None:
        """Close it, and kill it where it does not close in time."""
        if self.driver.alive:
            await end_quietly(self.browser.close(), seconds=seconds)
        if self.main is not None and runs(self.main):
            _kill(self.main)


def _kill(main: psutil.Process) -> None:
    with suppress(psutil.Error, OSError):  # it ended meanwhile
        if os.name == "posix" and os.getpgid(main.pid) == main.pid:
            os.killpg(main.pid, signal.SIGKILL)
        else:
            main.kill()
