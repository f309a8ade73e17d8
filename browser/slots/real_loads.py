"""Real loads at one host: how many at once over all sessions, how fast, and what becomes of one that comes too soon.

Invariant: with the options left alone a load is not held up. Only one that its host itself asked to come back later
waits, once, and says so.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from asyncio_throttle.throttler import Throttler

from browser.observation import Document
from browser.speculation.courtesy import Courtesy
from browser.speculation.politeness import OVERLOADED, host_name, rate_of, retry_after_seconds

_MAX_HOSTS = 1024


@dataclass(slots=True, kw_only=True, eq=False)
class _Host:
    places: asyncio.Semaphore
    throttler: Throttler | None
    users: int = 0


class RealLoads:
    """Holds real loads to what their hosts bear.

    Args:
        courtesy: What learns of the loads and of their answers.
        loads: How many run at one host at once.
        loads_per_second: How many begin at one host; None: any number.
        max_retry_after_seconds: For how long a load waits where its host asks to come back later; for longer it does
            not wait at all.
        clock: Where the time comes from, in seconds since 1970: hosts name moments as well as durations.
    """

    def __init__(
        self,
        *,
        courtesy: Courtesy,
        loads: int,
        loads_per_second: float | None,
        max_retry_after_seconds: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._courtesy = courtesy
        self._loads = loads
        self._loads_per_second = loads_per_second
        self._max_retry_after_seconds = max_retry_after_seconds
        self._clock = clock
        self._hosts: OrderedDict[str, _Host] = OrderedDict()
        self.retries = 0
        """Loads that were tried again when their host had asked to come back later."""

    async def run(self, url: str, load: Callable[[], Awaitable[Document]]) -> Document:
        """Load a URL when its host bears it; once more, after the time it asks for, where it answered 429 or 503."""
        async with self._turn(url):
            document = await load()
        seconds = self._asked_seconds(document)
        if seconds is None:
            return document
        self._courtesy.observe(document)  # nothing is to be loaded ahead from there meanwhile
        await asyncio.sleep(seconds)
        self.retries += 1
        async with self._turn(url):
            again = await load()
        note = f"The site answered {document.status} first, and was asked again after the {seconds:g} s it wanted."
        return replace(again, notes=(*again.notes, note))

    def _asked_seconds(self, document: Document) -> float | None:
        if document.status not in OVERLOADED:
            return None
        seconds = retry_after_seconds(document.headers.get("retry-after", ""), now_seconds=self._clock())
        return seconds if seconds is not None and seconds <= self._max_retry_after_seconds else None

    @asynccontextmanager
    async def _turn(self, url: str) -> AsyncIterator[None]:
        try:
            host = self._host(host_name(url))
        except ValueError:  # no address of a host: the load itself says what is wrong with it
            yield
            return
        host.users += 1
        try:
            async with host.places:
                if host.throttler is not None:
                    await host.throttler.acquire()  # type: ignore[no-untyped-call]
                self._courtesy.began(url)
                yield
        finally:
            host.users -= 1

    def _host(self, name: str) -> _Host:
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = _Host(places=asyncio.Semaphore(self._loads), throttler=self._new_throttler())
        self._hosts.move_to_end(name)
        if len(self._hosts) > _MAX_HOSTS:
            unused = (other for other, state in self._hosts.items() if not state.users and other != name)
            self._hosts.pop(next(unused, ""), None)
        return host

    def _new_throttler(self) -> Throttler | None:
        if self._loads_per_second is None:
            return None
        rate = rate_of(self._loads_per_second)
        return Throttler(rate_limit=rate.loads, period=rate.period_seconds)

    @property
    def running(self) -> int:
        """Loads that run, or wait for their host."""
        return sum(host.users for host in self._hosts.values())

    def __repr__(self) -> str:
        return f"<RealLoads running={self.running} hosts={len(self._hosts)} retries={self.retries}>"
