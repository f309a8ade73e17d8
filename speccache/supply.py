"""Where an observation comes from that this run has not made yet: a second level, another worker, or the environment.

Invariant: what the environment makes is made once in a run for each `obtain`, and nothing of a level, nor of another
worker, keeps an observation back for longer than the level's own bounds.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Generic

from speccache.environment import ObservationT
from speccache.second_level import Found, SecondLevel, SharedLevel, look_up
from speccache.store import Lifetime


class Supply(Generic[ObservationT]):
    """Takes observations from the second level where they are there, and puts there what had to be made.

    Args:
        level: The second level; None: everything is made.
        lifetime_of: For how long an observation may be used again; what is for single use is not put there.
    """

    def __init__(
        self,
        level: SecondLevel[ObservationT] | SharedLevel[ObservationT] | None,
        *,
        lifetime_of: Callable[[ObservationT], Lifetime],
    ) -> None:
        self._level = level
        self._lifetime_of = lifetime_of
        self._wanted: Counter[Hashable] = Counter()
        self._waiting: dict[Hashable, asyncio.Timeout] = {}

    async def obtain(self, key: Hashable, make: Callable[[], Awaitable[ObservationT]]) -> Found[ObservationT]:
        """Return the observation under the key, made only where it is not to be had.

        Cancellation: may be cancelled at any time; another worker that waits for this one's is then let go.

        Raises:
            Exception: Whatever `make` raises.
        """
        level = self._level
        if not isinstance(level, SharedLevel):
            return await look_up(level, key) or await self._make(key, make)
        try:
            return await self._claim(level, key) or await self._make(key, make)
        finally:
            level.release(key)

    async def _make(self, key: Hashable, make: Callable[[], Awaitable[ObservationT]]) -> Found[ObservationT]:
        value = await make()
        if self._level is not None:
            lifetime = self._lifetime_of(value)
            if not lifetime.single_use and lifetime.max_age_seconds != 0:
                self._level.put(key, value)
            elif isinstance(self._level, SharedLevel):
                self._level.decline(key)
        return Found(value=value)

    async def _claim(self, level: SharedLevel[ObservationT], key: Hashable) -> Found[ObservationT] | None:
        wait_seconds = level.target_seconds if self._wanted[key] else level.ahead_seconds
        try:
            async with asyncio.timeout(wait_seconds) as limit:
                self._waiting[key] = limit
                return await level.claim(key)
        except TimeoutError:
            return None
        finally:
            self._waiting.pop(key, None)

    @contextmanager
    def urgent(self, key: Hashable) -> Iterator[None]:
        """While this is entered, the target waits for the key: another worker is waited for less long."""
        self._wanted[key] += 1
        limit = self._waiting.get(key)
        if limit is not None and isinstance(self._level, SharedLevel) and not limit.expired():
            latest_seconds = asyncio.get_running_loop().time() + self._level.target_seconds
            limit.reschedule(min(latest_seconds, limit.when() or latest_seconds))
        try:
            yield
        finally:
            self._wanted -= Counter([key])
