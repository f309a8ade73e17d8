"""One Chromium process from its launch to its end.

Invariant: it is closed by whoever takes its last slot away after it was retired, or with its pool, and then it is gone,
whether it answers or not.
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
    """A Chromium that was launched.

    Attributes:
        browser: It, as Playwright sees it.
        driver: What it was launched by, and dies with.
        main: Its first process, which leads a process group of its own.
        wear: What it has served.
        slots: Slots in it, also those that are being opened.
        retired: Whether it takes no more slots.
    """

    browser: Browser
    driver: RunningDriver
    main: psutil.Process
    wear: Wear
    slots: int = 0
    retired: bool = False

    @property
    def alive(self) -> bool:
        """Whether it runs; Playwright notices late where it died, and not at all where its driver did."""
        return self.browser.is_connected() and self.driver.alive and runs(self.main)

    async def aclose(self, *, seconds: float) -> None:
        """Close it, and kill it where it does not close in time."""
        if self.driver.alive:
            await end_quietly(self.browser.close(), seconds=seconds)
        if runs(self.main):
            _kill(self.main)


def _kill(main: psutil.Process) -> None:
    with suppress(psutil.Error, OSError):  # it ended meanwhile
        if os.name == "posix" and os.getpgid(main.pid) == main.pid:
            os.killpg(main.pid, signal.SIGKILL)
        else:
            main.kill()
