"""What a pool is doing, and what it has done, in figures.

Invariant: what counts something that is going on is zero once the pool is closed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from browser.slots.slot_queue import Rank


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolStatistics:
    """Figures of one moment.

    Attributes:
        foreground: Slots that questions hold for their real actions.
        spare: Slots for real actions that stand ready, or are being opened for that; 0 or 1.
        leased: Slots in which something loads ahead.
        idle: Slots for loading ahead that nobody holds.
        warming: Such slots that are being opened before anybody asked.
        waiting: How many wait for a slot, by rank.
        loading: Real loads that run or wait for their host.
        browsers: Browsers that run, also those that end with their last slots.
        memory_bytes: PSS of all of them when it was last measured; 0: not yet.
        launches: Browsers started so far.
        driver_starts: How often the driver was started.
        recycled_slots: Slots closed because they had served their time.
        recycled_browsers: Browsers replaced because they had.
        replaced: Slots of questions that died and were opened again.
        loads: Loads begun, of both kinds.
        repeated_loads: Real loads that were tried again when their host had asked for that.
        queue_seconds: How long all that got a slot had waited for it together.
    """

    foreground: int
    spare: int
    leased: int
    idle: int
    warming: int
    waiting: Mapping[Rank, int]
    loading: int
    browsers: int
    memory_bytes: int
    launches: int
    driver_starts: int
    recycled_slots: int
    recycled_browsers: int
    replaced: int
    loads: int
    repeated_loads: int
    queue_seconds: float

    def __str__(self) -> str:
        waiting = sum(self.waiting.values())
        return (
            f"foreground={self.foreground} leased={self.leased} idle={self.idle} warming={self.warming}"
            f" waiting={waiting} launches={self.launches} loads={self.loads}"
        )
