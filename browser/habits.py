"""What is known of pages from earlier loads of them.

Invariant: it is only a head start. A page that is not known yet is read as well as a known one, only later.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from urllib.parse import urlsplit

_MAX_POLLS = 20


class Habits:
    """Remembers which requests of a page never end, so that the next load of it does not wait for them.

    Args:
        max_pages: How many pages are remembered; the one not seen for longest is forgotten first.
    """

    def __init__(self, *, max_pages: int = 1_000) -> None:
        self._max_pages = max_pages
        self._polls: OrderedDict[str, frozenset[str]] = OrderedDict()

    def polls(self, url: str) -> frozenset[str]:
        """Return the addresses (without query) that the page at this address keeps a request open to."""
        return self._polls.get(_place(url), frozenset())

    def learn(self, url: str, polls: Iterable[str]) -> None:
        """Remember requests of a page that were still open long after it had become quiet."""
        place = _place(url)
        known = self._polls.get(place, frozenset()).union(map(_place, polls))
        if not known:
            return
        self._polls[place] = frozenset(sorted(known)[:_MAX_POLLS])
        self._polls.move_to_end(place)
        while len(self._polls) > self._max_pages:
            self._polls.popitem(last=False)

    def __len__(self) -> int:
        return len(self._polls)


def _place(url: str) -> str:
    """The host and path of an address; queries of polls hold a time or a counter."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"
