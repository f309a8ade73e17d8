"""When a second request is worth its cost: after a percentile of the latency that was measured, within a set share.

The arithmetic. Let q be the share of calls that are hedged, so that d, the delay, is the (1 - q) quantile of the
latency, and let requests be slow independently of each other. A hedged call takes longer than t > d only if the first
request does *and* the second does not make up for it:
P(call > t) = P(first > t) * P(second > t - d) <= q * P(second > t - d).
For the 99th percentile this must be 0.01, so with q = 0.08 the second request may fail to answer within t - d in one of
eight cases: t is at most the 92nd percentile plus the 87.5th. The tail beyond does not enter at all, however long it
is. With q = 0.05 it is the 95th plus the 80th. The price is a share q of extra requests, most of which are given up
unfinished. Where slowness hits both requests alike (a long prompt, an outage), hedging gains nothing; then the share
bounds what it costs. (Dean and Barroso, "The Tail at Scale", CACM 56(2), 2013.)

Invariant: extra requests never exceed the share of the calls begun so far, plus one.
"""

from __future__ import annotations

import math
from collections import deque

DEFAULT_SHARE = 0.1
DEFAULT_START_SECONDS = 30.0
"""Beyond the median latency of each model in the published study (5.8 to 29 s; arXiv 2510.16276)."""

_AIM = 0.8
"""What of the share is meant to be used: the rest is there when stragglers come in a row."""
_MAX_SAVED = 10.0


class Hedging:
    """What is known of one model's latency, and how many second requests may be sent.

    A request that lost to a second one counts with the time after which it was given up. That is less than it would
    have taken, but more than the delay, so the percentile stays right.

    Args:
        share: Second requests for each call at most; 0: never one.
        start_seconds: The delay until enough was measured.
        enough: Measured requests from which on the percentile is used.
        window: Measured requests that are remembered.
    """

    def __init__(
        self,
        *,
        share: float = DEFAULT_SHARE,
        start_seconds: float = DEFAULT_START_SECONDS,
        enough: int = 20,
        window: int = 200,
    ) -> None:
        self.share = share
        self._start_seconds = start_seconds
        self._enough = enough
        self._latencies: deque[float] = deque(maxlen=window)
        self._tokens = 1.0

    @property
    def delay_seconds(self) -> float:
        """After how long a second request is sent."""
        measured = len(self._latencies)
        if measured < self._enough:
            return self._start_seconds
        rank = math.ceil((1 - _AIM * self.share) * measured)
        return sorted(self._latencies)[rank - 1]

    def begin(self) -> None:
        """Count a call; each earns its share of a second request."""
        self._tokens = min(_MAX_SAVED, self._tokens + self.share)

    def spend(self) -> bool:
        """Take the right to one second request; false where there is none."""
        if self.share <= 0 or self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def give_back(self) -> None:
        """Return a right that was taken and not used."""
        self._tokens += 1

    def measure(self, seconds: float) -> None:
        """Take in how long a first request took."""
        self._latencies.append(seconds)
