"""A pool whose size follows what it is asked for and what its machine bears.

Invariant: a change needs its reason to last for a while, and after there had to be fewer slots there are no more again
for longer, so that a load which comes and goes does not make the size follow it to and fro.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from browser.engine.machine import PAGE_BYTES, this_machine
from browser.pool import BrowserPool
from browser.slots.sizing import Figures, Limit, SizingLimits, demand, recommended_slots
from browser.slots.slot_queue import Rank

logger = logging.getLogger(__name__)

_MEBIBYTE = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class RegulatorOptions:
    """How quickly a pool's size follows its figures.

    Attributes:
        limits: How far it may grow.
        memory_share: Which share of the free memory they may take where the pool has no limit of its own.
        sample_seconds: How often the pool is looked at.
        grow_seconds: For how long all slots must have been too few before there is one more.
        shrink_seconds: For how long something must have been short before there are fewer.
        calm_seconds: For how long there are no more slots again after there had to be fewer.
    """

    limits: SizingLimits = SizingLimits()
    memory_share: float = 0.5
    sample_seconds: float = 0.5
    grow_seconds: float = 1.5
    shrink_seconds: float = 1.0
    calm_seconds: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Resized:
    """A pool's size was changed.

    Attributes:
        at_seconds: When, by the regulator's clock.
        before: How many slots there were.
        after: How many there are.
        limit: What set the number.
        reason: The same in words.
    """

    at_seconds: float
    before: int
    after: int
    limit: Limit
    reason: str

    def __str__(self) -> str:
        return f"{self.before} → {self.after} slots: {self.reason}"


class Regulator:
    """Decides when a pool's size is to change: up by one, and down by as much as is needed.

    Slots that are merely idle stay: they cost a blank page each, and the next turn may need them.

    Args:
        options: How quickly.
        clock: Where the time comes from, in seconds.
    """

    def __init__(
        self, options: RegulatorOptions = RegulatorOptions(), *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._options = options
        self._clock = clock
        self._trend = 0
        self._since_seconds = -math.inf
        self._calm_until_seconds = -math.inf

    def decide(self, figures: Figures) -> Resized | None:
        """Look at the newest figures; return the change to make now, if any."""
        kept = replace(figures, wanted=max(figures.wanted, figures.slots))
        advice, now_seconds = recommended_slots(kept, self._options.limits), self._clock()
        trend = (advice.slots > figures.slots) - (advice.slots < figures.slots)
        if trend != self._trend:
            self._trend, self._since_seconds = trend, now_seconds
        patience_seconds = self._options.grow_seconds if trend > 0 else self._options.shrink_seconds
        if trend == 0 or now_seconds - self._since_seconds < patience_seconds:
            return None
        if trend > 0 and now_seconds < self._calm_until_seconds:
            return None
        if trend < 0:
            self._calm_until_seconds = now_seconds + self._options.calm_seconds
        self._since_seconds = now_seconds
        if trend > 0:
            advice = replace(demand(figures, self._options.limits), slots=figures.slots + 1)
        return Resized(
            at_seconds=now_seconds, before=figures.slots, after=advice.slots, limit=advice.limit, reason=advice.reason
        )


class AutomaticSize:
    """Watches a pool and keeps its slots for loading ahead at what it can use and the machine can bear.

    Use it as `async with AutomaticSize(pool):`, inside the pool's own block; the pool begins with what its options say.

    Args:
        pool: The pool.
        options: How quickly its size follows.
        listener: Told of every change.
        clock: Where the time comes from, in seconds.

    Resource handling: owns a task that samples the pool; it ends with the block.
    """

    def __init__(
        self,
        pool: BrowserPool,
        options: RegulatorOptions = RegulatorOptions(),
        *,
        listener: Callable[[Resized], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pool = pool
        self._options = options
        self._listener = listener
        self._regulator = Regulator(options, clock=clock)
        self._watching: asyncio.Task[None] | None = None
        self.slots = pool.options.speculation_slots
        """How many there may be now."""

    async def __aenter__(self) -> AutomaticSize:
        self._watching = asyncio.create_task(self._watch(), name="watch the pool's size")
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait([self._watching])

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._options.sample_seconds)
            self.look()

    def look(self) -> Resized | None:
        """Look at the pool once, and change its size where that is due."""
        resized = self._regulator.decide(self._figures())
        if resized is not None:
            self.slots = resized.after
            self._pool.resize(speculation_slots=resized.after)
            logger.info("pool: %s", resized)
            self._listener(resized)
        return resized

    def _figures(self) -> Figures:
        now, machine = self._pool.statistics(), this_machine()
        ahead, real = now.leased + now.idle, now.foreground + now.spare
        # Both browsers' own memory is shared out among the pages, so few pages seem larger than they are.
        page_bytes = now.memory_bytes / max(ahead + real, 1) or PAGE_BYTES
        limit_mib, memory_bytes = self._pool.options.max_memory_mib, None
        if limit_mib is not None:
            memory_bytes = limit_mib * _MEBIBYTE - page_bytes * real
        elif machine.memory_bytes is not None:
            memory_bytes = self._options.memory_share * machine.memory_bytes + page_bytes * ahead
        return Figures(
            slots=self.slots,
            wanted=now.leased + sum(now.waiting.values()) - now.waiting[Rank.ACTION],
            page_bytes=page_bytes,
            memory_bytes=memory_bytes,
            cores=machine.cores,
            pressure=self._pool.pressure.reason(),
        )
