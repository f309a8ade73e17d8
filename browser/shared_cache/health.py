"""Whether a shared cache can be used, and what a person is told of it.

Invariant: one warning for each change, however many pages are concerned; and what changes often does so ever more
rarely.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from browser.shared_cache.address import CacheAddress

logger = logging.getLogger(__name__)

_LATE_IN_A_ROW = 3
_LONGEST_PAUSE_SECONDS = 60.0


class _Service:
    """Something that a server does or does not do; after each failure it is left alone for twice as long."""

    def __init__(self, first_pause_seconds: float, clock: Callable[[], float]) -> None:
        self._pause_seconds = first_pause_seconds
        self._clock = clock
        self._until_seconds = 0.0
        self.works = True
        self.news = ""
        """What was told of it last."""

    @property
    def may_be_tried(self) -> bool:
        """Whether it works, or the pause is over."""
        return self.works or self._clock() >= self._until_seconds

    def became(self, *, working: bool) -> bool:
        """Learn whether it works; tells whether that is news."""
        if not working and self.may_be_tried:  # of several tries under way, only the first to fail counts
            self._until_seconds = self._clock() + self._pause_seconds
            self._pause_seconds = min(2 * self._pause_seconds, _LONGEST_PAUSE_SECONDS)
        is_news, self.works = working is not self.works, working
        return is_news


class Health:
    """What is known of one server, which is taken to work until something else is learnt.

    Args:
        address: Where it is.
        first_pause_seconds: For how long it is left alone after its first failure.
        clock: A monotonic time in seconds.
    """

    def __init__(
        self, address: CacheAddress, *, first_pause_seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._address = address
        self._answers = _Service(first_pause_seconds, clock)
        self._keeps = _Service(first_pause_seconds, clock)
        self._late = Counter[str]()
        self._listeners: list[Callable[[str], None]] = []

    @contextmanager
    def told_to(self, listener: Callable[[str], None]) -> Iterator[None]:
        """Have a listener told of each change, and at once of what does not work now, a sentence each."""
        for service in (self._answers, self._keeps):
            if not service.works:
                listener(service.news)
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    @property
    def usable(self) -> bool:
        """Whether it is asked for pages."""
        return self._answers.works

    @property
    def may_be_asked(self) -> bool:
        """Whether it is time to see if it answers."""
        return self._answers.may_be_tried

    @property
    def takes_pages(self) -> bool:
        """Whether pages are put there."""
        return self.usable and self._keeps.may_be_tried

    def answered(self, what: str = "question") -> None:
        """Learn that it answers what it was asked."""
        self._late[what] = 0
        if self._answers.became(working=True):
            self._tell(self._answers, "is used again")

    def late(self, seconds: float, what: str = "question") -> None:
        """Learn that it has not answered in time; once says little, some of a kind in a row that it is too slow."""
        self._late[what] += 1
        if self._late[what] >= _LATE_IN_A_ROW:
            self.lost(f"no answer within {seconds:g} s")

    def lost(self, reason: str) -> None:
        """Learn that it cannot be used."""
        if self._answers.became(working=False):
            self._tell(self._answers, f"cannot be used ({reason}); pages are loaded without it")

    def kept(self) -> None:
        """Learn that it has kept a page."""
        if self._keeps.became(working=True):
            self._tell(self._keeps, "keeps pages again")

    def refused(self, reason: str) -> None:
        """Learn that it does not keep pages, as when it is full; those it has can still be read."""
        if self._keeps.became(working=False):
            self._tell(self._keeps, f"keeps no pages for now ({reason})")

    def _tell(self, service: _Service, news: str) -> None:
        service.news = f"The shared cache at {self._address} {self._address.masked(news)}."
        logger.warning("%s", service.news)
        for listener in list(self._listeners):
            listener(service.news)
