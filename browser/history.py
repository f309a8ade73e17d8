"""Where a session has been, and how far what it saw there still holds.

Invariant: an observation counts as current only while nothing was done since on the site it shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from yarl import URL

from browser.observation import Observation


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One page of the history.

    Attributes:
        observation: What was seen last.
        version: The version its origin's state had then.
    """

    observation: Observation
    version: int


MAX_PAGES = 100
"""How many pages can be gone back to; the first ones are forgotten, as browsers forget theirs."""


class History:
    """Pages visited, in order, and the versions of their origins' state."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._place = -1
        self._versions: dict[str, int] = {}

    @property
    def here(self) -> Observation | None:
        """The page stood on; None where there is none yet."""
        return self._entries[self._place].observation if self._entries else None

    @property
    def pages(self) -> list[Observation]:
        """All pages visited that can still be gone back or forward to."""
        return [entry.observation for entry in self._entries]

    def push(self, observation: Observation) -> None:
        """Go on to a page; those that were gone back from are forgotten."""
        del self._entries[self._place + 1 :]
        self._entries.append(self._entry(observation))
        del self._entries[:-MAX_PAGES]
        self._place = len(self._entries) - 1

    def replace(self, observation: Observation) -> None:
        """Stay on the page, which is now seen like this."""
        self._entries[self._place] = self._entry(observation)

    def move(self, steps: int) -> bool:
        """Go back (-1) or forward (1); False where there is no such page."""
        if not 0 <= self._place + steps < len(self._entries):
            return False
        self._place += steps
        return True

    @property
    def holds(self) -> bool:
        """Whether what was seen of this page still counts."""
        entry = self._entries[self._place]
        return entry.version == self.version(entry.observation.url)

    def version(self, url: str) -> int:
        """Tell how many times something was done on the site of this address."""
        return self._versions.get(_origin(url), 0)

    def outdate(self, urls: Iterable[str]) -> None:
        """Something was done on these sites: what was seen of them before counts no more."""
        for origin in {_origin(url) for url in urls}:
            self._versions[origin] = self._versions.get(origin, 0) + 1

    def _entry(self, observation: Observation) -> Entry:
        return Entry(observation=observation, version=self.version(observation.url))

    def __len__(self) -> int:
        return self._place + 1


def _origin(url: str) -> str:
    try:
        return str(URL(url).origin())
    except ValueError:  # no address, or one without a host
        return ""
