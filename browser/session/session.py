"""A session: what the sites that a run visits have stored with it.

Invariant: environments share cookies and storage only where they were given the same session; each makes its own else.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from browser.session.cookies import Cookies, fingerprint
from browser.session.storage_state import Origin, StorageState
from browser.session.web_storage import WebStorage


class Session:
    """What environments hold in common that share a login.

    Args:
        state: What they have stored with it before, from a file or a profile.
        personal: Whether it is a person's own, so that nothing it sees is shown to others; one with a state always is.
    """

    def __init__(self, *, state: StorageState | None = None, personal: bool = False) -> None:
        self.personal = personal or state is not None
        """Whether what it sees may differ from what anybody sees, even where it has no cookie."""
        state = state or StorageState(cookies=(), origins=())
        self.cookies: Cookies = list(state["cookies"])
        """The cookies it holds."""
        self._named: tuple[Cookies, str] = self.cookies, fingerprint(self.cookies)
        self._given = {origin["origin"]: origin for origin in state["origins"]}
        self._storage = {origin: _web_storage(given) for origin, given in self._given.items()}

    @property
    def name(self) -> str:
        """Equal where a page shows the same, as far as cookies decide; `ANONYMOUS` where it shows anybody the same."""
        if self._named[0] is not self.cookies:
            self._named = self.cookies, fingerprint(self.cookies)
        name = self._named[1]
        return f"own-{name}" if self.personal else name

    @property
    def has_databases(self) -> bool:
        """Whether it was given databases."""
        return any(origin.get("indexedDB") for origin in self._given.values())

    @property
    def origins(self) -> Sequence[str]:
        """The origins that have stored something."""
        return list(self._storage)

    def storage(self, origin: str) -> WebStorage:
        """Return what an origin has stored; `sessionStorage` belongs to a tab, and is not in it."""
        return self._storage.get(origin, WebStorage(origin=origin))

    def learn_cookies(self, *, before: Cookies, after: Cookies) -> None:
        """Take over what an action of one environment changed; others may have changed theirs meanwhile."""
        old, new = _by_place(before), _by_place(after)
        kept = {place: cookie for place, cookie in _by_place(self.cookies).items() if place in new or place not in old}
        changed = {place: cookie for place, cookie in new.items() if old.get(place) != cookie}
        if changed or len(kept) < len(self.cookies):
            self.cookies = list((kept | changed).values())

    def learn_storage(self, storage: WebStorage) -> None:
        """Take over what an origin has stored now."""
        self._storage[storage.origin] = replace(storage, tab={})

    def state(self) -> StorageState:
        """Return all of it as Playwright takes it; of databases, what was given at the beginning."""
        return StorageState(cookies=self.cookies, origins=[self._origin(storage) for storage in self._storage.values()])

    def _origin(self, storage: WebStorage) -> Origin:
        given = self._given.get(storage.origin)
        if given is not None and storage.opaque and not storage.local:
            return given
        return {**(given or {}), "origin": storage.origin, "localStorage": storage.items()}

    def __repr__(self) -> str:
        return f"<Session {self.name} cookies={len(self.cookies)} origins={len(self._storage)}>"


def same_cookies(some: Cookies, others: Cookies) -> bool:
    """Tell whether these are the same cookies, in whatever order."""
    return some is others or _by_place(some) == _by_place(others)


def _by_place(cookies: Cookies) -> dict[Hashable, Any]:
    return {
        (cookie["name"], cookie["domain"], cookie["path"], cookie.get("partitionKey")): cookie for cookie in cookies
    }


def _web_storage(given: Origin) -> WebStorage:
    return WebStorage(
        origin=given["origin"],
        local={item["name"]: item["value"] for item in given["localStorage"]},
        opaque=bool(given.get("indexedDB")),
    )
