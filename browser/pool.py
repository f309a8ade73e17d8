"""Contexts with a page, leased from two browser processes.

Invariant: a speculation never runs in the process, nor in a slot, that a real action uses. (Measured: a navigation took
151 ms alone, 551 ms beside four background loads in its own process, 239 ms with these in another.)
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Hashable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager, suppress

from browser.errors import BrowserError, PoolClosed, SlotCrashed
from browser.observation import Document
from browser.page import LoadOptions
from browser.session.cookies import Cookies, give_cookies
from browser.session.identity import Identity
from browser.slots.browser_pair import BrowserPair
from browser.slots.errands import Errands
from browser.slots.loader import Loader
from browser.slots.memory_budget import MemoryBudget
from browser.slots.pool_options import PoolOptions
from browser.slots.pool_statistics import PoolStatistics
from browser.slots.pressure import Pressure
from browser.slots.right_of_way import RightOfWay
from browser.slots.slot import Slot
from browser.slots.slot_queue import Lease, Rank, SlotQueue
from browser.slots.spare import Spare
from browser.slots.way_out import way_out
from browser.speculation.courtesy import Courtesy

__all__ = ["BrowserPool", "PoolOptions", "PoolStatistics", "Rank", "Slot"]


class BrowserPool:
    """Two browsers and their slots.

    Use it as `async with BrowserPool(options) as pool:`.

    Args:
        options: How large it is.
        clock: Where the time comes from, in seconds.

    Resource handling: owns the driver, both browsers, every slot and a folder for their temporary files; all are gone
    when the block ends, however it ends. What a killed run could not remove, the next one removes.
    """

    def __init__(self, options: PoolOptions = PoolOptions(), *, clock: Callable[[], float] = time.monotonic) -> None:
        self.options = options
        self._clock = clock
        self._stack = AsyncExitStack()
        self.courtesy = Courtesy(proxy=lambda: self.egress.url, loads_per_second=options.host_loads_per_second)
        """What all sessions know of the hosts they visit."""
        self.egress = way_out(options)
        """The only way out of both browsers."""
        way = RightOfWay()
        self._pair = BrowserPair(options, proxy=lambda: self.egress.url, right_of_way=way, clock=clock)
        self.pressure = Pressure(groups=lambda: self._pair.background_groups)
        """Whether the machine has room for speculation."""
        self._memory = MemoryBudget(
            max_mib=options.max_memory_mib, browsers=lambda: self._pair.running, changed=self._recycle, clock=clock
        )
        self._spare = Spare(self._pair.open, drop=self._pair.drop, right_of_way=way, memory=self._memory)
        self._queue = SlotQueue(
            live=options.foreground_slots,
            ahead=options.speculation_slots,
            memory=self._memory,
            drop=self._pair.drop,
            has_spare=lambda: self._spare.ready,
            ageing_seconds=options.ageing_seconds,
            clock=clock,
        )
        self._loader = Loader(
            options, courtesy=self.courtesy, right_of_way=way, failure=self.egress.failure, suspect=self._pair.suspect
        )
        self._held: dict[Slot, Lease] = {}
        self._warming, self._open = Errands(), False
        self._replaced = self._recycled_slots = 0

    async def __aenter__(self) -> BrowserPool:
        try:
            await self._start()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def _start(self) -> None:
        await self._stack.enter_async_context(self.egress)
        self._stack.push_async_callback(self._pair.aclose)
        self._stack.push_async_callback(self._spare.aclose)
        self._stack.push_async_callback(self.courtesy.aclose)
        self._stack.push_async_callback(self.pressure.aclose)
        self._stack.push_async_callback(self._memory.aclose)
        self._stack.push_async_callback(self._warming.aclose, seconds=self.options.launch.close_seconds)
        await self._pair.start()
        self._open = True
        self._memory.start()
        self._spare.prepare()

    async def __aexit__(self, *_: object) -> None:
        self._open = False
        self._queue.close()
        self._held.clear()
        await asyncio.shield(asyncio.create_task(self._stack.aclose(), name="close browser pool"))

    async def foreground(self, *, cookies: Cookies = (), identity: Identity | None = None) -> Slot:
        """Lease a slot for real actions, waiting for its turn; give it back with `discard()`.

        Who it is to the sites is for the pool's options to say, where it is None.

        Raises:
            BrowserNotFound: There is no Chromium on this machine.
            LaunchFailed: It does not start.
            SlotCrashed: It died meanwhile; asking again is worth it.
            PoolClosed: The pool is not open, or was closed meanwhile.
        """
        self._check_open()
        lease = await self._queue.lease(None, Rank.ACTION)
        return await self._fill(lease, cookies, identity or self.options.identity)

    async def replace(self, slot: Slot, *, cookies: Cookies = ()) -> Slot:
        """Open a slot in place of one that died, in its turn.

        Raises:
            BrowserError: As `foreground()`; there is no slot then.
        """
        lease = self._held.pop(slot, None)
        if lease is None:
            return await self.foreground(cookies=cookies, identity=slot.identity)
        self._replaced += 1
        self._pair.drop(slot)
        self._recycle()
        return await self._fill(lease, cookies, slot.identity)

    async def _fill(self, lease: Lease, cookies: Cookies, identity: Identity) -> Slot:
        slot = None
        try:
            if lease.spare:
                lease.spare = False
                slot = await self._spare.take()
            slot = await self._pair.fit(slot, identity, ahead=False)
            if cookies:
                await give_cookies(slot, cookies)
        except BaseException:
            self._queue.give_back(lease)
            if slot is not None:
                self._pair.drop(slot)
            raise
        self._held[slot] = lease
        return slot

    async def discard(self, slot: Slot) -> None:
        """Give back a slot for real actions, which is closed for good; may be called twice."""
        lease = self._held.pop(slot, None)
        if lease is not None:
            self._queue.give_back(lease)
            await self._pair.close(slot)
            self._recycle()

    @asynccontextmanager
    async def speculation(
        self, owner: Hashable, *, cookies: Cookies = (), rank: Rank = Rank.GUESS, identity: Identity | None = None
    ) -> AsyncIterator[Slot]:
        """Lease a speculative slot, with these cookies and nothing of any other owner in it.

        Raises:
            Unspeculable: There is no such slot, and there will be none.
            BrowserError: As `foreground()`.
        """
        self._check_open()
        lease = await self._queue.lease(owner, rank)
        slot = lease.slot
        try:
            slot = await self._pair.fit(slot, identity or self.options.identity, ahead=True)
            slot.owner = owner
            if slot.cookies is None or list(slot.cookies) != list(cookies):
                await give_cookies(slot, cookies)
            slot.cookies = None
            yield slot
        except SlotCrashed:
            if slot is not None:
                slot.crashed = True
            raise
        finally:
            self._give_back(lease, slot)

    def _give_back(self, lease: Lease, slot: Slot | None) -> None:
        worn = slot is not None and slot.wear.is_slot_due(self.options.recycling, now_seconds=self._clock())
        self._recycled_slots += worn
        if slot is not None and (worn or not slot.reusable):
            self._pair.drop(slot)
            slot = None
        self._queue.give_back(lease, idle=slot)
        self._recycle()

    async def load(self, slot: Slot, url: str, *, options: LoadOptions) -> Document:
        """Load a URL in a slot, with what all sessions have learned of its site.

        A real load waits for its host where that is asked too often, and is tried once more where the host asks for
        that; the document's notes say so.

        Raises:
            SlotCrashed: The slot died.
        """
        try:
            return await self._loader.load(slot, url, options=options)
        finally:
            self._recycle()

    def bounded(self, slot: Slot, *, seconds: float) -> AbstractAsyncContextManager[None]:
        """Bound what is done with a slot, which keeps limits of its own as long as its browser answers at all.

        Raises:
            SlotCrashed: It took longer; the slot is dead then.
        """
        return self._loader.bounded(slot, seconds=seconds)

    @contextmanager
    def urgent(self, owner: Hashable = None) -> Iterator[None]:
        """Give speculation the priority of a real action, for as long as one waits for its load.

        Args:
            owner: Whose load it is; where that still waits for a slot, it goes before guesses.
        """
        if owner is not None:
            self._queue.promote(owner)
        with self._pair.urgent():
            yield

    async def forget(self, owner: Hashable) -> None:
        """Close the idle slots of an owner that is done: nobody else may see what is in them."""
        self._queue.drop_idle(lambda slot: slot.owner is owner)

    def resize(self, *, speculation_slots: int) -> None:
        """Change how many pages may load ahead at once: more from now on, fewer as those that load come back."""
        self._queue.resize(speculation_slots)

    def warm(self) -> None:
        """Open the speculative slots in the background, so that the first guesses find them ready."""
        self._check_open()
        self.pressure.start()
        while (lease := self._queue.try_lease()) is not None:
            self._warming.run(self._warm_one(lease), name="warm a slot")

    async def _warm_one(self, lease: Lease) -> None:
        slot = None
        try:
            # Only a head start: where it fails, the lease that needs the slot reports why.
            with suppress(BrowserError):
                slot = await self._pair.open(ahead=True)
        finally:
            self._queue.give_back(lease, idle=slot)

    def _recycle(self) -> None:
        """Close what nobody holds and what has served its time, and measure now and then whether it has."""
        if not self._open:
            return
        self._pair.recycle()
        self._queue.drop_idle(lambda slot: slot.home.retired)
        self._spare.renew()
        self._memory.look()

    async def measure(self) -> int:
        """Measure what all browsers take now, as PSS in bytes (Linux; elsewhere 0)."""
        return await self._memory.measure()

    def statistics(self) -> PoolStatistics:
        """Return what the pool is doing, and what it has done."""
        pair, queue = self._pair, self._queue
        return PoolStatistics(
            foreground=queue.live,
            spare=int(self._spare.ready),
            leased=queue.ahead - queue.warming,
            idle=len(queue.idle),
            warming=queue.warming,
            waiting=queue.waiting,
            loading=self._loader.waiting_or_running,
            browsers=len(pair.running),
            memory_bytes=self._memory.measured_bytes,
            launches=pair.launches,
            driver_starts=pair.driver_starts,
            recycled_slots=self._recycled_slots,
            recycled_browsers=pair.retirements,
            replaced=self._replaced,
            loads=self._loader.loads,
            repeated_loads=self._loader.repeated,
            queue_seconds=queue.waited_seconds,
        )

    def _check_open(self) -> None:
        if not self._open:
            raise PoolClosed("the browser pool is not open", hint="Use it as `async with BrowserPool() as pool:`.")

    def __repr__(self) -> str:
        return f"<BrowserPool {self.statistics()}>"
