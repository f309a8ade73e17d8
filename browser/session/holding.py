"""What the live side of an environment holds of its session, and what it is still to be given.

Invariant: when a real action begins, its context holds what the session does for the site it is on, cookies and
storage; when it has ended, the session holds what came of it.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from playwright.async_api import Page

from browser.address import same_site
from browser.observation import Document
from browser.session.cookies import Cookies, cookies_of, give_cookies, give_state, state_of
from browser.session.identity import Identity
from browser.session.session import Session, same_cookies
from browser.session.storage_state import Origin, StorageState
from browser.session.web_storage import WebStorage, put_storage, storage_of
from browser.slots.slot import Slot

_SEE_SECONDS = 1.0  # somebody waits


class Holding:
    """One environment's share in a session.

    Args:
        session: The session.
        identity: Who the environment is to the sites.
    """

    def __init__(self, session: Session, identity: Identity) -> None:
        self.session = session
        self.identity = identity
        self._cookies: Cookies = ()
        self._stored: dict[str, WebStorage] = {}
        self._tab: dict[str, WebStorage] = {}
        self._adopted: Document | None = None
        self._before_adopted: WebStorage | None = None

    @property
    def name(self) -> str:
        """Equal where a page shows the same, as far as cookies and headers decide."""
        own = "own-" if self.identity.headers and not self.session.personal else ""
        return own + self.session.name

    def storage(self, origin: str) -> WebStorage:
        """Return what a page of this origin is to find."""
        tab = self._tab.get(origin)
        return replace(self.session.storage(origin), tab=tab.tab if tab else {})

    def origins(self, url: str) -> list[str]:
        """The origins of a URL's site that have stored something."""
        known = dict.fromkeys([*self.session.origins, *self._tab])
        return [origin for origin in known if same_site(origin, url)]

    async def opened(self, slot: Slot) -> None:
        """Begin with a context that was opened with the session's cookies.

        Raises:
            SlotCrashed: Its browser died.
        """
        self._cookies, self._stored = self.session.cookies, {}
        if self.session.has_databases:
            # The rest is put in place when it is needed, which takes less time than opening a page for each origin.
            await give_state(slot, self.session.state())
            self._stored = {origin: self.session.storage(origin) for origin in self.session.origins}

    async def catch_up(self, slot: Slot, url: str = "") -> None:
        """Give the context what has changed since its last action.

        Args:
            slot: The context.
            url: The page that is about to be loaded, whose site finds its storage in place; empty: none is.

        Raises:
            SlotCrashed: Its browser died.
        """
        if not same_cookies(self._cookies, self.session.cookies):
            self._cookies = self.session.cookies
            await give_cookies(slot, self._cookies)
        for origin in self.origins(url):
            wanted = self.storage(origin)
            stored = self._stored.get(origin, WebStorage(origin=origin))
            if wanted != stored and not wanted.opaque and await put_storage(slot.page, wanted):
                self._stored[origin] = wanted

    async def see(self, slot: Slot, page: Page) -> None:
        """Take over what an action left in the context.

        Raises:
            SlotCrashed: Its browser died.
        """
        reading = asyncio.create_task(storage_of(page, seconds=_SEE_SECONDS), name="read storage")
        try:
            cookies = await cookies_of(slot)
            storage = await reading
        finally:
            reading.cancel()
        self.session.learn_cookies(before=self._cookies, after=cookies)
        self._cookies = cookies
        self._adopted = None
        if storage is not None:
            self._learn(storage)
            self._stored[storage.origin] = storage

    def adopt(self, document: Document, storage: WebStorage) -> None:
        """Take over what a page stored that was loaded elsewhere."""
        self._adopted, self._before_adopted = document, self.storage(storage.origin)
        self._learn(storage)

    def withdraw(self, document: Document) -> None:
        """Undo that for a page which is about to be loaded here after all: else it would store everything twice."""
        if self._adopted is document and self._before_adopted is not None:
            self._learn(self._before_adopted)
        self._adopted = None

    def _learn(self, storage: WebStorage) -> None:
        if storage.name or storage.origin in self.session.origins:
            self.session.learn_storage(storage)
        self._tab[storage.origin] = storage

    async def state(self, slot: Slot | None) -> StorageState:
        """Return all that the session has, as a file keeps it: with databases, where its browser is still alive."""
        found = await state_of(slot) if slot is not None else None
        if found is None:
            return self.session.state()
        self.session.learn_cookies(before=self._cookies, after=found["cookies"])
        self._cookies = found["cookies"]
        origins: dict[str, Origin] = {origin["origin"]: origin for origin in found["origins"]}
        for origin in self.session.origins:
            known = self.session.storage(origin)
            if not known.opaque and self._stored.get(origin, WebStorage(origin=origin)).local != known.local:
                origins[origin] = {**origins.get(origin, {}), "origin": origin, "localStorage": known.items()}
        return StorageState(cookies=self.session.cookies, origins=list(origins.values()))
