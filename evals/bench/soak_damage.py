"""What `soak` does to the browsers: kills one of them now and then, and now and then one of their renderers.

Invariant: which one, and when, follows from the seed and from the processes that run, those that ran before left alone;
every process that was ever there is remembered, so that none can be left behind unseen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from random import Random

import psutil

from evals.bench.processes import browsers, descendants, renderers

_LATEST_SECONDS = 0.2  # after a load has begun


class Damage:
    """Kills processes in the middle of loads.

    Args:
        kill_every: A browser, every so many loads.
        crash_every: A renderer, every so many loads; half-way between two kills where it is half as many.
        seed: Of the choice.
    """

    def __init__(self, *, kill_every: int, crash_every: int, seed: int) -> None:
        self._kill_every = kill_every
        self._crash_every = crash_every
        self._random = Random(seed)  # noqa: S311 - a choice, no secret
        self._timers: list[asyncio.TimerHandle] = []
        self._before = descendants()
        self.killed_browsers = 0
        self.crashed_renderers = 0
        self.seen: set[psutil.Process] = set()
        """Every process that came to be below this one since."""

    def begin(self, number: int) -> None:
        """Learn that the load with this number begins, and do now or soon what is due at it."""
        if number % self._kill_every == 0:
            self._soon(self._kill_browser)
        if number % self._crash_every == self._crash_every // 2:
            self._soon(self._crash_renderer)

    def browsers(self) -> list[psutil.Process]:
        """Return the browsers that may be killed."""
        return [browser for browser in browsers() if browser not in self._before]

    def look(self) -> None:
        """Remember the processes that run now, but for those that ran before all this."""
        self.seen |= descendants() - self._before

    async def over(self) -> None:
        """Wait until nothing more comes of the loads that have begun."""
        if self._timers:
            await asyncio.sleep(
                max(0.0, max(timer.when() for timer in self._timers) - asyncio.get_running_loop().time())
            )
            self._timers.clear()

    def _soon(self, do: Callable[[], None]) -> None:
        delay_seconds = self._random.uniform(0, _LATEST_SECONDS)
        self._timers.append(asyncio.get_running_loop().call_later(delay_seconds, do))

    def _kill_browser(self) -> None:
        self.look()
        self.killed_browsers += self._kill(self.browsers())

    def _crash_renderer(self) -> None:
        self.look()
        self.crashed_renderers += self._kill(renderers(self.browsers()))

    def _kill(self, processes: Sequence[psutil.Process]) -> bool:
        if not processes:
            return False
        try:
            self._random.choice(processes).kill()
        except psutil.NoSuchProcess:
            return False
        return True
