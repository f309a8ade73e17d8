"""What speculation owes the hosts it loads from.

Invariant: no speculative load starts at a host that asked to be left alone, already carries its share of them, wants
more time between two loads, or has little left of its rate. Real actions are neither asked nor slowed down here; only
their answers are learned from, and their starts counted.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from yarl import URL

from browser.address import page_key
from browser.speculation.freshness import http_date_seconds
from speccache.errors import Unspeculable
from speccache.store import Store

OVERLOADED = (429, 503)
"""Statuses by which a host says that it has enough to do."""

_REFUSED_HEADER = "cf-speculation-refused"  # Cloudflare's: this page is not for prefetching, whatever the load
_MAX_DOUBLINGS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class PolitenessOptions:
    """How considerate speculation is.

    Attributes:
        max_loads_per_host: Speculative loads that may run at one host at once.
        max_loads_per_second: Loads of both kinds that may begin at one host; None: any number. One is always left to a
            real action, which does not ask, so with one or fewer nothing is loaded ahead.
        first_quiet_seconds: How long a host is left alone that is overloaded and does not say for how long; it doubles
            with each such answer in a row.
        max_quiet_seconds: How long a host is left alone at most, and a page that must not be loaded ahead.
        max_hosts: Hosts remembered; the least recently used are forgotten first.
        max_pages: Pages remembered that must not be loaded ahead.
    """

    max_loads_per_host: int = 4
    max_loads_per_second: float | None = None
    first_quiet_seconds: float = 30.0
    max_quiet_seconds: float = 600.0
    max_hosts: int = 1024
    max_pages: int = 4096


@dataclass(slots=True)
class _Host:
    running: int = 0
    started_seconds: float = -math.inf
    quiet_until_seconds: float = -math.inf
    overloads: int = 0
    """Answers in a row that said so."""
    starts: deque[float] = field(default_factory=deque)
    """When the last loads began, as far as the rate wants to know."""


_DEFAULT = PolitenessOptions()


class Politeness:
    """Decides whether a host bears another speculative load now.

    Args:
        crawl_delay_seconds: The least time a site wants between two loads, by URL.
        options: How considerate to be.
        clock: Where the time comes from, in seconds since 1970: hosts name moments as well as durations.
    """

    def __init__(
        self,
        *,
        crawl_delay_seconds: Callable[[str], float] = lambda _: 0.0,
        options: PolitenessOptions = _DEFAULT,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.options = options
        self._crawl_delay_seconds = crawl_delay_seconds
        self._clock = clock
        self._hosts: OrderedDict[str, _Host] = OrderedDict()
        self._refused_pages: Store[None] = Store(
            max_entries=options.max_pages, max_age_seconds=options.max_quiet_seconds, clock=clock
        )

    def refusal(self, url: str) -> str | None:
        """Say why a URL must not be loaded ahead now; None if it may be.

        Returns:
            "speculation-refused", "retry-after", "host-busy", "crawl-delay" or "host-rate".

        Raises:
            ValueError: It is not a URL.
        """
        if page_key(url) in self._refused_pages:
            return "speculation-refused"
        host = self._hosts.get(host_name(url))
        if host is None:
            return None if self._leaves_one(_Host()) else "host-rate"
        now_seconds = self._clock()
        if now_seconds < host.quiet_until_seconds:
            return "retry-after"
        if host.running >= self.options.max_loads_per_host:
            return "host-busy"
        # Not queued: a real action may join this load, and would wait with it.
        if now_seconds < host.started_seconds + self._crawl_delay_seconds(url):
            return "crawl-delay"
        return None if self._leaves_one(host) else "host-rate"

    def began(self, url: str) -> None:
        """Count a load that begins, speculative or real.

        Raises:
            ValueError: It is not a URL.
        """
        if self.options.max_loads_per_second is not None:
            starts = self._host(url).starts
            starts.append(self._clock())
            if len(starts) > rate_of(self.options.max_loads_per_second).loads:
                starts.popleft()

    def _leaves_one(self, host: _Host) -> bool:
        """Whether one more load now still leaves one to a real action."""
        if self.options.max_loads_per_second is None:
            return True
        rate = rate_of(self.options.max_loads_per_second)
        while host.starts and self._clock() - host.starts[0] >= rate.period_seconds:
            host.starts.popleft()
        return len(host.starts) + 1 < rate.loads

    @contextmanager
    def load(self, url: str) -> Iterator[None]:
        """Count one speculative load as running while the block lasts.

        Raises:
            Unspeculable: It must not start now.
            ValueError: It is not a URL.
        """
        reason = self.refusal(url)
        if reason is not None:
            raise Unspeculable(reason)
        host = self._host(url)
        host.running += 1
        host.started_seconds = self._clock()
        self.began(url)
        try:
            yield
        finally:
            host.running -= 1

    def observe(self, url: str, *, status: int, headers: Mapping[str, str]) -> None:
        """Learn from an answer, to a speculation or to a real action.

        Args:
            url: Where the answer came from.
            status: Its HTTP status.
            headers: Its headers, names in lower case.

        Raises:
            ValueError: It is not a URL.
        """
        if _REFUSED_HEADER in headers:
            self._refused_pages.put(page_key(url), None)
        elif status in OVERLOADED:
            self._leave_alone(self._host(url), headers.get("retry-after", ""))
        elif status < 500 and host_name(url) in self._hosts:
            self._host(url).overloads = 0

    def _leave_alone(self, host: _Host, retry_after: str) -> None:
        now_seconds = self._clock()
        if now_seconds >= host.quiet_until_seconds:  # loads that ran side by side are refused together: that is once
            host.overloads += 1
        # A host that asks for no time at all has not said when it will bear more.
        seconds = retry_after_seconds(retry_after, now_seconds=now_seconds) or self._back_off_seconds(host)
        until_seconds = now_seconds + min(seconds, self.options.max_quiet_seconds)
        host.quiet_until_seconds = max(host.quiet_until_seconds, until_seconds)

    def _back_off_seconds(self, host: _Host) -> float:
        return self.options.first_quiet_seconds * 2.0 ** min(host.overloads - 1, _MAX_DOUBLINGS)

    def _host(self, url: str) -> _Host:
        name = host_name(url)
        host = self._hosts.setdefault(name, _Host())
        self._hosts.move_to_end(name)
        if len(self._hosts) > self.options.max_hosts:
            # One that is being loaded from is kept: its count must come back to zero.
            idle = (other for other, state in self._hosts.items() if not state.running and other != name)
            self._hosts.pop(next(idle, ""), None)
        return host

    def __repr__(self) -> str:
        now_seconds = self._clock()
        running = sum(host.running for host in self._hosts.values())
        quiet = sum(now_seconds < host.quiet_until_seconds for host in self._hosts.values())
        return f"<Politeness running={running} hosts={len(self._hosts)} quiet={quiet} pages={len(self._refused_pages)}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """So many loads in any period of this length."""

    loads: int
    period_seconds: float


def rate_of(loads_per_second: float) -> Rate:
    """Express a rate in whole loads."""
    loads = max(1, int(loads_per_second))
    return Rate(loads=loads, period_seconds=loads / loads_per_second)


def host_name(url: str) -> str:
    """Name the host of a URL, with its port.

    Raises:
        ValueError: It is not a URL.
    """
    parsed = URL(url)
    return f"{parsed.host}:{parsed.port}"


def retry_after_seconds(value: str, *, now_seconds: float) -> float | None:
    """Return for how long `Retry-After` asks to wait (RFC 9110, 10.2.3: seconds or a date); None: it does not say."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value)
    until_seconds = http_date_seconds(value)
    return None if until_seconds is None else max(0.0, until_seconds - now_seconds)
