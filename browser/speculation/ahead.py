"""Pages loaded ahead for one environment, in spare slots, under guard.

Invariant: such a page finds cookies and storage as a real load would find them, and nothing of another page that was
loaded ahead; what it stores itself becomes the session's only when it is adopted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from browser.acting.allowance import Allowance
from browser.observation import Document
from browser.pool import BrowserPool
from browser.reading.load_options import LoadOptions
from browser.session.cookies import cookies_of, fingerprint
from browser.session.holding import Holding
from browser.session.web_storage import WebStorage, origin_of, put_storage, storage_of
from browser.slots.slot import Slot
from browser.slots.slot_queue import Rank
from browser.speculation.verdict import unkeepable
from speccache.errors import Unspeculable

_MAX_LEFT = 1_000
_DATABASE = "keeps-database"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Left:
    document: Document
    storage: WebStorage


class Ahead:
    """Loads pages ahead.

    Args:
        pool: Where its slots come from.
        holding: What the environment holds of its session.
        owner: Whose slots they are.
        load_options: Limits of one load.
        allowance: What is taken out of the pages.
        read: Reads a page further, as the environment does.
    """

    def __init__(
        self,
        pool: BrowserPool,
        holding: Holding,
        *,
        owner: Hashable,
        load_options: LoadOptions,
        allowance: Allowance,
        read: Callable[[Document], Document],
    ) -> None:
        self._pool = pool
        self._holding = holding
        self._owner = owner
        self._load_options = load_options
        self._allowance = allowance
        self._read = read
        self._left: OrderedDict[int, _Left] = OrderedDict()

    def storage_name(self, url: str) -> str:
        """Name what the origin of a URL has stored; empty where it has nothing."""
        return self._holding.storage(origin_of(url)).name

    async def load(self, url: str, *, rank: Rank = Rank.GUESS) -> Document:
        """Load a page as the session would see it.

        Args:
            url: The page.
            rank: Which loads ahead it waits behind where all slots are taken.

        Raises:
            Unspeculable: It must not be loaded ahead, or must not be kept.
        """
        if self._allowance.holds_secret(url):
            raise Unspeculable("secret")
        cookies = self._holding.session.cookies
        with self._pool.courtesy.load(url):
            lease = self._pool.speculation(self._owner, cookies=cookies, rank=rank, identity=self._holding.identity)
            async with lease as slot:
                await self._lend_storage(slot, url)
                document = await self._load_guarded(slot, url)
                slot.cookies = await cookies_of(slot)
                if fingerprint(slot.cookies) != fingerprint(cookies):
                    raise Unspeculable("sets-cookie")
                await self._take_storage_back(slot, document)
                # A request may reach the guard later than what was read of the page that sent it.
                if slot.guard is not None and slot.guard.blocked is not None:
                    raise Unspeculable(slot.guard.blocked)
        return document

    async def _load_guarded(self, slot: Slot, url: str) -> Document:
        guard = slot.guard
        if guard is None:
            raise Unspeculable("unguarded")
        guard.arm(url)
        loaded = await self._pool.load(slot, url, options=self._load_options)
        document = self._read(self._allowance.masked_document(loaded))
        self._pool.courtesy.observe(document)
        reason = await guard.verdict() or unkeepable(document)
        if reason is not None:
            raise Unspeculable(reason)
        return document

    async def _lend_storage(self, slot: Slot, url: str) -> None:
        if slot.stored:
            last = await _found(slot)  # it may have stored something after it was read
            slot.stored[last.origin] = last
        for origin in dict.fromkeys([*slot.stored, *self._holding.origins(url)]):
            wanted, stored = self._holding.storage(origin), slot.stored.get(origin, WebStorage(origin=origin))
            if wanted.opaque or stored.opaque:
                raise Unspeculable(_DATABASE)
            if wanted != stored:
                if slot.guard is not None:
                    slot.guard.arm(origin)
                if not await put_storage(slot.page, wanted):
                    raise Unspeculable("storage-not-set")
                slot.stored[origin] = wanted

    async def _take_storage_back(self, slot: Slot, document: Document) -> None:
        storage = await _found(slot)
        slot.stored[storage.origin] = storage
        if storage.opaque:
            raise Unspeculable(_DATABASE)
        if storage != self._holding.storage(storage.origin):
            self._left[id(document)] = _Left(document=document, storage=storage)
            if len(self._left) > _MAX_LEFT:
                self._left.popitem(last=False)

    def adopt(self, document: Document, *, seen: Document) -> None:
        """Let the session have stored what this page did, if it was loaded here.

        Args:
            document: The page as it was loaded.
            seen: The same as the session sees it, by which it is known from now on.
        """
        left = self._left.get(id(document))
        if left is not None and left.document is document:
            self._holding.adopt(seen, left.storage)

    async def aclose(self) -> None:
        """Close what is open for the environment; may be called twice."""
        self._left.clear()
        await self._pool.forget(self._owner)


async def _found(slot: Slot) -> WebStorage:
    storage = await storage_of(slot.page)
    if storage is None:
        raise Unspeculable("storage-not-read")
    return storage
