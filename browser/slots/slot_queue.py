"""Who gets a slot next.

Invariant: `_decide` alone gives slots out, and it does so without waiting for anything; what is to be opened or closed
for it is done afterwards, by whoever asked. A real action waits for other real actions only: speculation has slots of
its own, in a browser of its own, and makes way where memory is short.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from browser.errors import PoolClosed
from browser.slots.slot import Slot
from speccache.errors import Unspeculable


class Rank(IntEnum):
    """Who goes first."""

    ACTION = 0
    """Something that the target does."""
    JOINED = 1
    """A page that loads ahead, and that the target waits for by now."""
    GUESS = 2
    """A guess at the next action."""
    DEEPER = 3
    """A guess at what comes after a guess."""


class Memory(Protocol):
    """Tells whether there is memory for one more slot."""

    def has_room(self) -> bool:
        """Tell whether one more slot may be opened."""

    def opened(self) -> None:
        """Learn that a slot is about to be opened."""

    def closed(self) -> None:
        """Learn that one is about to be closed."""


@dataclass(slots=True, kw_only=True, eq=False)
class Lease:
    """The right to hold one slot.

    Attributes:
        ahead: Whether it is for loading ahead.
        warming: Whether it only opens a slot for whoever comes.
        slot: What was idle before; None where one is to be opened.
        spare: Whether it is to be the slot that stands ready; until that one is taken.
    """

    ahead: bool
    warming: bool = False
    slot: Slot | None = None
    spare: bool = False


@dataclass(slots=True, kw_only=True, eq=False)
class _Waiter:
    owner: Hashable
    rank: Rank
    since_seconds: float
    turn: asyncio.Future[Lease]


class SlotQueue:
    """Gives out the slots of a pool.

    Args:
        live: How many slots of real actions there may be.
        ahead: How many slots for loading ahead.
        memory: Whether there is room for one more.
        drop: Closes a slot that was idle; called for each that has to go.
        has_spare: Whether a slot for real actions stands ready, which takes no more memory.
        ageing_seconds: After how long a waiter rises by one rank; none that loads ahead rises to that of an action.
        clock: Where the time comes from, in seconds.
    """

    def __init__(
        self,
        *,
        live: int,
        ahead: int,
        memory: Memory,
        drop: Callable[[Slot], object],
        has_spare: Callable[[], bool] = lambda: False,
        ageing_seconds: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_live = live
        self._max_ahead = ahead
        self._memory = memory
        self._drop = drop
        self._has_spare = has_spare
        self._ageing_seconds = ageing_seconds
        self._clock = clock
        self._waiters: list[_Waiter] = []
        self._leases: set[Lease] = set()
        self._closed = False
        self.idle: list[Slot] = []
        """Slots for loading ahead that nobody holds, the one unused for longest first."""
        self.waited_seconds = 0.0
        """How long all that got a slot had waited for it together."""

    @property
    def live(self) -> int:
        """Slots that real actions hold."""
        return sum(not lease.ahead for lease in self._leases)

    @property
    def ahead(self) -> int:
        """Slots that pages are loaded ahead in."""
        return sum(lease.ahead for lease in self._leases)

    @property
    def warming(self) -> int:
        """How many of these are only being opened for whoever comes."""
        return sum(lease.warming for lease in self._leases)

    @property
    def waiting(self) -> Mapping[Rank, int]:
        """How many wait, by the rank they came with."""
        counts = Counter(waiter.rank for waiter in self._waiters)
        return {rank: counts[rank] for rank in Rank}

    async def lease(self, owner: Hashable, rank: Rank) -> Lease:
        """Wait for a slot; where the lease has none yet, the caller opens it.

        Cancellation: the caller's place in the queue, or its lease, goes to the next.

        Raises:
            Unspeculable: There is no slot for loading ahead, and there will be none.
            PoolClosed: The pool was closed meanwhile.
        """
        turn = asyncio.get_running_loop().create_future()
        waiter = _Waiter(owner=owner, rank=rank, since_seconds=self._clock(), turn=turn)
        self._waiters.append(waiter)
        try:
            self._decide()
            lease: Lease = await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.give_back(turn.result(), idle=turn.result().slot)
            raise
        finally:
            if waiter in self._waiters:
                self._waiters.remove(waiter)
        self.waited_seconds += self._clock() - waiter.since_seconds
        return lease

    def try_lease(self) -> Lease | None:
        """Return the right to open one more slot for loading ahead where there is room and nobody waits."""
        full = self._closed or self._waiters or len(self.idle) + self.ahead >= self._max_ahead
        return None if full or not self._memory.has_room() else self._new(Lease(ahead=True, warming=True))

    def give_back(self, lease: Lease, *, idle: Slot | None = None) -> None:
        """End a lease; its slot stays where it is fit for the next, else the caller closes it. May be called twice."""
        if lease not in self._leases:
            return
        self._leases.discard(lease)
        if idle is not None and len(self.idle) + self.ahead < self._max_ahead:
            self.idle.append(idle)
        else:
            if not lease.spare:  # else it has not taken the one that stands ready
                self._memory.closed()
            if idle is not None:
                self._drop(idle)
        self._decide()

    def drop_idle(self, unwanted: Callable[[Slot], bool]) -> None:
        """Close those idle slots that are unwanted, and decide again: there may be more room than before."""
        for slot in list(filter(unwanted, self.idle)):
            self._evict(slot)
        self._decide()

    def promote(self, owner: Hashable) -> None:
        """Somebody waits for what this owner loads ahead."""
        for waiter in self._waiters:
            if waiter.owner is owner and waiter.rank > Rank.JOINED:
                waiter.rank = Rank.JOINED
        self._decide()

    def resize(self, ahead: int) -> None:
        """Change how many slots for loading ahead there may be: more at once, fewer as they come back."""
        self._max_ahead = ahead
        while self.idle and len(self.idle) + self.ahead > ahead:
            self._evict(self.idle[0])
        self._decide()

    def close(self) -> None:
        """Turn all that wait away, and give nothing out any more; what is open goes with its browser."""
        self._closed = True
        self._decide()
        self._leases.clear()
        self.idle.clear()

    def _decide(self) -> None:
        """Give out what can be given out now, in order of rank and of arrival."""
        for waiter in sorted(self._waiters, key=self._order):
            if waiter.turn.done():
                continue
            try:
                lease = self._lease_for(waiter)
            except (Unspeculable, PoolClosed) as refusal:
                waiter.turn.set_exception(refusal)
            else:
                if lease is not None:
                    waiter.turn.set_result(lease)

    def _order(self, waiter: _Waiter) -> int:
        if waiter.rank is Rank.ACTION:
            return Rank.ACTION
        risen = int((self._clock() - waiter.since_seconds) / self._ageing_seconds)
        return max(Rank.JOINED, waiter.rank - risen)

    def _lease_for(self, waiter: _Waiter) -> Lease | None:
        if self._closed:
            raise PoolClosed("the browser pool was closed")
        return self._live_lease() if waiter.rank is Rank.ACTION else self._ahead_lease(waiter.owner)

    def _live_lease(self) -> Lease | None:
        if self.live >= self._max_live:
            return None
        if self._has_spare() and not any(lease.spare for lease in self._leases):
            return self._new(Lease(ahead=False, spare=True))
        while self.idle and not self._memory.has_room():
            self._evict(self.idle[0])
        # One question always has its page, whatever the memory.
        return self._new(Lease(ahead=False)) if self.live == 0 or self._memory.has_room() else None

    def _ahead_lease(self, owner: Hashable) -> Lease | None:
        if self._max_ahead == 0:
            raise Unspeculable("no-slot")
        if self.ahead >= self._max_ahead:
            return None
        slot = self._take_idle(owner)
        if slot is not None:
            return self._new(Lease(ahead=True, slot=slot))
        if self.idle and (len(self.idle) + self.ahead >= self._max_ahead or not self._memory.has_room()):
            self._evict(self.idle[0])  # another owner's: its storage must not be seen by this one
        if self._memory.has_room():
            return self._new(Lease(ahead=True))
        if self.ahead == 0:
            raise Unspeculable("memory")  # nothing will come back, and the target may join what waits here
        return None

    def _take_idle(self, owner: Hashable) -> Slot | None:
        for slot in [slot for slot in self.idle if not slot.reusable]:
            self._evict(slot)
        for wanted in (owner, None):
            for slot in self.idle:
                if slot.owner == wanted:
                    self.idle.remove(slot)
                    return slot
        return None

    def _new(self, lease: Lease) -> Lease:
        if lease.slot is None and not lease.spare:
            self._memory.opened()
        self._leases.add(lease)
        return lease

    def _evict(self, slot: Slot) -> None:
        self.idle.remove(slot)
        self._memory.closed()
        self._drop(slot)

    def __repr__(self) -> str:
        waiting = sum(self.waiting.values())
        return f"<SlotQueue live={self.live} ahead={self.ahead} idle={len(self.idle)} waiting={waiting}>"
