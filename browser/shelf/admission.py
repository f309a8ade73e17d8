"""What a run may keep for others, under which name, and what it may be shown of theirs.

Invariant: only what a visitor without cookies saw gets a name, and the name says all that a page depends on: its
address, the visitor's language and window, the release that read it and how that cuts pages into parts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Hashable
from importlib.metadata import version

from yarl import URL

from browser.action import Visit
from browser.address import check_address
from browser.errors import AddressRefused
from browser.observation import Observation
from browser.session.cookies import ANONYMOUS
from browser.shelf.life import shelf_seconds
from browser.speculation.gate import address_refusal


class Admission:
    """Decides for one run.

    Args:
        name_of: The environment's own `key`: how it would name a page now.
        part_chars: Length of one part of a page, in characters; what was cut otherwise is not found.
        named_hosts: Hosts the user named; pages of other private hosts are not shown.
        lets: Tells whether this run could load a page of an address: where a name leads, and which domains are denied,
            is not the same for all; None: whatever `named_hosts` allow.
    """

    def __init__(
        self,
        name_of: Callable[[Visit], str | None],
        *,
        part_chars: int,
        named_hosts: Collection[str],
        lets: Callable[[URL], Awaitable[bool]] | None = None,
    ) -> None:
        self._lets = lets
        self._name_of = name_of
        self._named_hosts = frozenset(named_hosts)
        self._edition = f"{version('speccache')}/{part_chars}"
        self._personal = False

    def name(self, key: Hashable) -> str | None:
        """Return the name under which a page is kept; None: it is this visitor's alone."""
        text = str(key)
        url, _, rest = text.partition(" ")
        # A browser that was once given a name and password sends them along with all later requests, and no key tells.
        self._personal = self._personal or address_refusal(url, page_url=url) == "credentials"
        return f"{self._edition} {text}" if not self._personal and rest.startswith(f"{ANONYMOUS} ") else None

    def keep_seconds(self, key: Hashable, observation: Observation, *, now_seconds: float) -> float:
        """Tell for how long a page that was just loaded may be shown to later anonymous visitors; 0: never."""
        seconds = shelf_seconds(observation, now_seconds=now_seconds)
        if seconds <= 0 or self.name(key) is None:
            return 0.0
        # The load may have brought cookies: then the page has another name by now, and may show what only this visitor
        # is to see.
        return seconds if self._name_of(Visit(observation.document.requested_url)) == str(key) else 0.0

    async def may_show(self, observation: Observation) -> bool:
        """Tell whether this run may see a kept page: another one may reach hosts that this one does not."""
        document = observation.document
        addresses = dict.fromkeys((document.requested_url, document.url))
        try:
            for url in addresses:
                check_address(url, named_hosts=self._named_hosts)
        except AddressRefused:
            return False
        return self._lets is None or all([await self._lets(URL(url)) for url in addresses])
