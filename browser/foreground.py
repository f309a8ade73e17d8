"""The live side of a session: the slot in which real actions happen, its tabs, and its cookies.

Invariant: `live` shows the document it was asked for, in the tab that shows it already where there is one, else loaded
again. A slot that died is replaced by one with the same cookies.
"""

from __future__ import annotations

from collections.abc import Callable

from playwright.async_api import Page

from browser.acting.allowance import Allowance
from browser.acting.interaction import Standing, act
from browser.acting.outcome import Outcome
from browser.action import Interaction
from browser.errors import ActionFailed, SlotCrashed
from browser.observation import Document
from browser.page import LoadOptions, read_again
from browser.pool import BrowserPool, Slot
from browser.session.holding import Holding
from browser.session.storage_state import StorageState
from browser.slots.loader import longest_seconds


class Foreground:
    """One session's live pages.

    Args:
        pool: Where its slot comes from.
        holding: What it holds of its session.
        load_options: Limits of one load.
        allowance: What may be uploaded and typed.
        read: Reads a loaded page further.

    Resource handling: holds one foreground slot of the pool from its first load on; `aclose()` gives it back.
    """

    def __init__(
        self,
        pool: BrowserPool,
        holding: Holding,
        *,
        load_options: LoadOptions,
        allowance: Allowance,
        read: Callable[[Document], Document],
    ) -> None:
        self._pool = pool
        self._holding = holding
        self._load_options = load_options
        self._allowance = allowance
        self._read = read
        self._slot: Slot | None = None
        self._shown: dict[Page, Document] = {}
        self._live: dict[Page, Document] = {}

    async def load(self, url: str) -> Document:
        """Load a page in the current tab.

        Raises:
            SlotCrashed: The browser died twice under the load.
        """
        try:
            return await self._load_once(url)
        except SlotCrashed:
            return await self._load_once(url)

    async def _load_once(self, url: str) -> Document:
        slot = await self._open_slot()
        before, address = (self._shown.get(slot.page), self._live.get(slot.page)), slot.page.url
        self._forget(slot.page)
        try:
            await self._holding.catch_up(slot, url)
            document = await self._pool.load(slot, url, options=self._load_options)
            await self._holding.see(slot, slot.page)
        except SlotCrashed:
            slot.crashed = True
            raise
        document = self._read(self._allowance.masked_document(document))
        if document.download is None:
            before = document, document
        elif slot.page.url != address:
            return document
        # A file leaves the page as it is.
        self._stand(slot.page, *before)
        return document

    async def live(self, document: Document | None) -> Page:
        """Return the page that shows a document; without one, the page as it is.

        Raises:
            ActionFailed: Loaded again, its address gives no page.
            SlotCrashed: The browser died twice under the load.
        """
        slot = await self._open_slot()
        if document is not None and document.download is None and not self._turn_to(slot, document):
            self._holding.withdraw(document)
            found = await self.load(document.url)
            slot = await self._open_slot()
            if found.problem is not None or found.download is not None:
                raise ActionFailed(f"{document.url} does not show its page any more, so nothing was done on it.")
            self._shown[slot.page] = document
        return slot.page

    async def look_again(self, document: Document) -> Document:
        """Read a page anew: in the tab that still shows it, else by loading it.

        Raises:
            SlotCrashed: The browser died twice under the load.
        """
        slot = await self._open_slot()
        if not self._turn_to(slot, document):
            return await self.load(document.url)
        page, numbered = slot.page, self._live[slot.page]
        self._forget(page)
        try:
            async with self._pool.bounded(slot, seconds=longest_seconds(self._load_options)):
                document = await read_again(page, options=self._load_options, numbered=numbered)
        except SlotCrashed:
            return await self.load(document.url)
        document = self._read(self._allowance.masked_document(document))
        self._shown[page] = self._live[page] = document
        return document

    async def act(self, document: Document, action: Interaction) -> Outcome:
        """Do something on the page that shows a document.

        Cancellation: it may or may not have been done; the page counts as unknown.

        Raises:
            SlotCrashed: The browser died; whether it was done is not known, so it is not tried again.
        """
        page = await self.live(document)
        slot = await self._open_slot()
        assert slot.downloads is not None  # noqa: S101 - only slots that load ahead have none
        standing = Standing(page=page, shown=document, live=dict(self._live), downloads=slot.downloads)
        self._forget(page)
        async with self._pool.bounded(slot, seconds=2 * longest_seconds(self._load_options)):
            await self._holding.catch_up(slot)
            async with slot.whole(page):
                done = await act(standing, action, options=self._load_options, allowance=self._allowance)
            outcome = self._allowance.masked_outcome(done)
            await self._holding.see(slot, outcome.page)
        if outcome.page is not page and not page.is_closed():
            self._shown[page], self._live[page] = document, standing.live[page]
        slot.page = outcome.page
        self._shown[outcome.page] = self._live[outcome.page] = outcome.document
        return outcome

    def _turn_to(self, slot: Slot, document: Document) -> bool:
        """Go to the tab that shows a document; False where none does."""
        pages = [page for page, shown in self._shown.items() if shown is document and not page.is_closed()]
        if pages:
            slot.page = pages[0]
        return bool(pages)

    def _stand(self, page: Page, shown: Document | None, live: Document | None) -> None:
        if shown is not None and live is not None:
            self._shown[page], self._live[page] = shown, live

    def _forget(self, page: Page) -> None:
        self._shown.pop(page, None)
        self._live.pop(page, None)

    async def _open_slot(self) -> Slot:
        if self._slot is None or not self._slot.alive:
            dead, self._slot = self._slot, None
            self._shown.clear()
            self._live.clear()
            self._slot = await self._new_slot(in_place_of=dead)
            try:
                await self._holding.opened(self._slot)
            except BaseException:
                await self.aclose()  # it does not hold what it should
                raise
        return self._slot

    async def _new_slot(self, *, in_place_of: Slot | None) -> Slot:
        cookies, identity = self._holding.session.cookies, self._holding.identity
        if in_place_of is None:
            return await self._pool.foreground(cookies=cookies, identity=identity)
        return await self._pool.replace(in_place_of, cookies=cookies)

    async def storage_state(self) -> StorageState:
        """Return what sites have stored with the session."""
        return await self._holding.state(self._slot if self._slot is not None and self._slot.alive else None)

    async def aclose(self) -> None:
        """Give the slot back; may be called twice."""
        slot, self._slot = self._slot, None
        self._shown.clear()
        self._live.clear()
        if slot is not None:
            await self._pool.discard(slot)
