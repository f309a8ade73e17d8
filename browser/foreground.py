"""The live side of a session: the slot in which real actions happen, its tabs, and its cookies.

Invariant: `live` shows the document it was asked for, in the tab that shows it already where there is one, else loaded
again. A slot that died is replaced by one with the same cookies.
"""

from __future__ import annotations

from playwright.async_api import Page

from browser.acting import Standing, act
from browser.action import Interaction
from browser.allowance import Allowance
from browser.cookies import Cookies, cookies_of
from browser.errors import SlotCrashed
from browser.observation import Document
from browser.outcome import Outcome
from browser.page import LoadOptions, read_again
from browser.pool import BrowserPool, Slot


class Foreground:
    """One session's live pages.

    Args:
        pool: Where its slot comes from.
        load_options: Limits of one load.
        allowance: What may be uploaded and typed.

    Resource handling: holds one foreground slot of the pool from its first load on; `aclose()` gives it back.
    """

    def __init__(self, pool: BrowserPool, *, load_options: LoadOptions, allowance: Allowance) -> None:
        self._pool = pool
        self._load_options = load_options
        self._allowance = allowance
        self._slot: Slot | None = None
        self._shown: dict[Page, Document] = {}
        self._live: dict[Page, Document] = {}
        self.cookies: Cookies = ()
        """The cookies the session held after its last action."""

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
        self._forget(slot.page)
        try:
            document = await self._pool.load(slot, url, options=self._load_options)
            self.cookies = await cookies_of(slot)
        except SlotCrashed:
            slot.crashed = True
            raise
        document = self._allowance.masked_document(document)
        self._shown[slot.page] = self._live[slot.page] = document
        return document

    async def live(self, document: Document | None) -> Page:
        """Return the page that shows a document; without one, the page as it is.

        Raises:
            SlotCrashed: The browser died twice under the load.
        """
        slot = await self._open_slot()
        if document is not None and not self._turn_to(slot, document):
            await self.load(document.url)
            slot = await self._open_slot()
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
            document = await read_again(page, options=self._load_options, numbered=numbered)
        except SlotCrashed:
            slot.crashed = True
            return await self.load(document.url)
        document = self._allowance.masked_document(document)
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
        standing = Standing(page=page, shown=document, live=dict(self._live))
        self._forget(page)
        try:
            done = await act(standing, action, options=self._load_options, allowance=self._allowance)
            outcome = self._allowance.masked_outcome(done)
            self.cookies = await cookies_of(slot)
        except SlotCrashed:
            slot.crashed = True
            raise
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

    def _forget(self, page: Page) -> None:
        self._shown.pop(page, None)
        self._live.pop(page, None)

    async def _open_slot(self) -> Slot:
        if self._slot is None or not self._slot.alive:
            await self.aclose()
            self._slot = await self._pool.foreground(cookies=self.cookies)
        return self._slot

    async def aclose(self) -> None:
        """Give the slot back; may be called twice."""
        slot, self._slot = self._slot, None
        self._shown.clear()
        self._live.clear()
        if slot is not None:
            await self._pool.discard(slot)
