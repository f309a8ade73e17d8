"""Loading pages in slots: real loads when their hosts bear them and before all others, and every load in bounded time.

Invariant: what is loaded ahead never holds up a real load, neither here nor at a host.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from browser.errors import SlotCrashed
from browser.observation import Document
from browser.page import LoadOptions, load
from browser.reading.habits import Habits
from browser.slots.pool_options import PoolOptions
from browser.slots.real_loads import RealLoads
from browser.slots.right_of_way import RightOfWay
from browser.slots.slot import Slot
from browser.speculation.courtesy import Courtesy

_MARGIN_SECONDS = 15.0  # for what is done beside waiting and reading


class Loader:
    """Loads pages, with what all sessions have learned of their sites.

    Args:
        options: What real loads wait for.
        courtesy: What learns of them and of their answers.
        right_of_way: Held while a real load runs.
        failure: Knows better than the browser why an address could not be reached.
        suspect: Looks whether the browser of a slot that did not answer still works.
    """

    def __init__(
        self,
        options: PoolOptions,
        *,
        courtesy: Courtesy,
        right_of_way: RightOfWay,
        failure: Callable[[str], str | None],
        suspect: Callable[[Slot], Awaitable[None]],
    ) -> None:
        self._right_of_way = right_of_way
        self._real_loads = RealLoads(
            courtesy=courtesy,
            loads=options.host_loads,
            loads_per_second=options.host_loads_per_second,
            max_retry_after_seconds=options.max_retry_after_seconds,
        )
        self._failure = failure
        self._suspect = suspect
        self._habits = Habits()
        self.loads = 0
        """Loads begun so far, of both kinds."""

    @property
    def waiting_or_running(self) -> int:
        """Real loads that run, or wait for their host."""
        return self._real_loads.running

    @property
    def repeated(self) -> int:
        """Real loads that were tried again when their host had asked for that."""
        return self._real_loads.retries

    async def load(self, slot: Slot, url: str, *, options: LoadOptions) -> Document:
        """Load a URL; a real load may wait for its host, and is tried once more where the host asks for that.

        Raises:
            SlotCrashed: The slot died.
        """
        if slot.guard is not None:
            return await self._load(slot, url, options)
        return await self._real_loads.run(url, lambda: self._load_first(slot, url, options))

    async def _load_first(self, slot: Slot, url: str, options: LoadOptions) -> Document:
        with self._right_of_way.held():
            return await self._load(slot, url, options)

    async def _load(self, slot: Slot, url: str, options: LoadOptions) -> Document:
        self.loads += 1
        slot.wear.loads += 1
        slot.home.wear.loads += 1
        async with self.bounded(slot, seconds=longest_seconds(options)):
            return await load(
                slot.page,
                url,
                options=options,
                habits=self._habits,
                failure=self._failure,
                downloads=slot.downloads,
            )

    @asynccontextmanager
    async def bounded(self, slot: Slot, *, seconds: float) -> AsyncIterator[None]:
        """Bound what is done with a slot, which keeps limits of its own as long as its browser answers at all.

        Raises:
            SlotCrashed: It took longer; the slot is dead then.
        """
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError as error:
            slot.crashed = True
            await self._suspect(slot)
            raise SlotCrashed("the browser does not answer") from error
        except SlotCrashed:
            slot.crashed = True
            raise


def longest_seconds(options: LoadOptions) -> float:
    """How long a load may take when it uses up every limit of its own."""
    waits = 2 * options.navigate_timeout_seconds + options.settle_cap_seconds + options.frames_cap_seconds
    reads = options.read_cap_seconds + options.stuck_seconds + options.download_seconds + options.file_seconds
    return waits + reads + _MARGIN_SECONDS
