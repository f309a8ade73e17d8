"""One slot for real actions that stands ready, so that a question's first load does not wait for a page to be opened.

Invariant: there is at most one, it has never been used, and none is opened while a real load runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from browser.errors import BrowserError
from browser.slots.errands import Errands
from browser.slots.right_of_way import RightOfWay
from browser.slots.slot import Slot
from browser.slots.slot_queue import Memory


class Spare:
    """Keeps one slot ready.

    Args:
        open_slot: Opens it.
        drop: Closes one that is of no use.
        right_of_way: Held by real loads.
        memory: Whether there is room for it.
        quiet_seconds: How long no real load has run before the next is opened.

    Resource handling: owns the tasks that open the slot, and the slot until it is taken; close it with `aclose()`.
    """

    def __init__(
        self,
        open_slot: Callable[[], Coroutine[Any, Any, Slot]],
        *,
        drop: Callable[[Slot], object],
        right_of_way: RightOfWay,
        memory: Memory,
        quiet_seconds: float = 0.5,
    ) -> None:
        self._open_slot = open_slot
        self._drop = drop
        self._right_of_way = right_of_way
        self._memory = memory
        self._quiet_seconds = quiet_seconds
        self._opening: asyncio.Task[Slot] | None = None
        self._renewing = Errands()

    @property
    def ready(self) -> bool:
        """Whether there is one, or soon will be."""
        return self._opening is not None

    def prepare(self) -> None:
        """Begin to open one, where there is none and there is room for it."""
        if self._opening is None and self._memory.has_room():
            self._memory.opened()
            self._opening = asyncio.create_task(self._open_slot(), name="open the spare slot")

    def renew(self) -> None:
        """Open another, once no real load is in the way, where there is none or it is of no use any more."""
        if self._opening is not None and self._opening.done() and _slot(self._opening, reusable=True) is None:
            opening, self._opening = self._opening, None
            self._abandon(opening)
        if self._opening is None and not self._renewing:
            self._renewing.run(self._prepare_later(), name="renew the spare slot")

    async def _prepare_later(self) -> None:
        await self._right_of_way.wait_for_quiet(seconds=self._quiet_seconds)
        self.prepare()

    async def take(self) -> Slot | None:
        """Take it, waiting until it is open; None where there is none that is of use, and the taker is to open one.

        Either way one page more is the taker's, and for the taker to count as closed, also where it was cancelled.

        Cancellation: it stays for the next, unless there is another by then.
        """
        opening, self._opening = self._opening, None
        if opening is None:
            self._memory.opened()
            return None
        try:
            await asyncio.wait([opening])
        except asyncio.CancelledError:
            self._memory.opened()
            if self._opening is None:
                self._opening = opening
            else:
                opening.add_done_callback(self._abandon)
            raise
        slot = _slot(opening, reusable=True)
        if slot is None:
            self._memory.opened()
            self._abandon(opening)
        return slot

    def _abandon(self, opened: asyncio.Task[Slot]) -> None:
        self._memory.closed()
        slot = _slot(opened)
        if slot is not None:
            self._drop(slot)

    async def aclose(self) -> None:
        """End what is being opened, and drop what is open; may be called twice."""
        await self._renewing.aclose(seconds=1.0)
        opening, self._opening = self._opening, None
        if opening is not None:
            opening.cancel()
            await asyncio.wait([opening])
            self._abandon(opening)


def _slot(opened: asyncio.Task[Slot], *, reusable: bool = False) -> Slot | None:
    """Return what was opened; None where that failed: whoever opens the next one learns why."""
    with suppress(BrowserError, asyncio.CancelledError):
        slot = opened.result()
        return slot if slot.reusable or not reusable else None
    return None
