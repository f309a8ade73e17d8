"""What is known of pages from earlier loads of them.

Invariant: it is only a head start. A page that is not known yet is read as well as a known one, only later; and where a
page no longer keeps to its habit, that costs waiting and no text.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, replace
from typing import TypeVar
from urllib.parse import urlsplit

from browser.address import page_key
from browser.reading.vain_timers import VainTimers

_MAX_POLLS = 20
_MAX_LOADS = 8  # of one site whose lateness is remembered

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """What a page did when it was loaded, or is expected to do.

    Attributes:
        polls: Requests that never end; they are not waited for.
        characters: How much text it had in the end, counted up to a limit. With as much, it is not doubted that it is
            whole.
        late_milliseconds: How long after all that could be seen to be pending some of its text came. So much more quiet
            is asked for.
        vain_timers: Marks of timers that ran and brought nothing; where text is there, they are not waited for.
        fruitful_timers: Marks of timers that ran and after which something came, or may yet come.
    """

    polls: frozenset[str] = frozenset()
    characters: int = 0
    late_milliseconds: float = 0.0
    vain_timers: frozenset[str] = frozenset()
    fruitful_timers: frozenset[str] = frozenset()


class Habits:
    """Remembers pages, how late the text came on the last pages of a site, and which timers of a folder bring none.

    Args:
        max_pages: How many pages, sites and folders are remembered; the one not seen for longest is forgotten first.
    """

    def __init__(self, *, max_pages: int = 1_000) -> None:
        self._max_pages = max_pages
        self._pages: OrderedDict[str, Habit] = OrderedDict()
        self._polls: OrderedDict[str, frozenset[str]] = OrderedDict()
        self._sites: OrderedDict[str, deque[float]] = OrderedDict()
        self._timers: OrderedDict[str, VainTimers] = OrderedDict()

    def expected(self, url: str) -> Habit:
        """Return what is known of the page at this address, of its site and its folder."""
        # Another query or hash route is another page with a text of its own, though it may keep the same requests open.
        known = self._pages.get(page_key(url), Habit())
        timers = self._timers.get(_folder(url))
        return replace(
            known,
            polls=self._polls.get(_place(url), frozenset()),
            late_milliseconds=max((known.late_milliseconds, *self._sites.get(_site(url), ()))),
            vain_timers=timers.trusted() if timers else frozenset(),
        )

    def learn(self, url: str, seen: Habit) -> None:
        """Remember what a page did.

        Its text is what it was the last time, its polls are all that were ever seen.
        """
        self._learn_timers(_folder(url), seen)
        self._learn_polls(_place(url), seen)
        known = self._pages.get(page_key(url), Habit())
        page = Habit(
            characters=seen.characters or known.characters,
            late_milliseconds=seen.late_milliseconds,
        )
        if page == Habit() and not seen.polls:
            return
        _remember(self._pages, page_key(url), page, self._max_pages)
        loads = self._sites.get(_site(url), deque(maxlen=_MAX_LOADS))
        loads.append(seen.late_milliseconds)
        _remember(self._sites, _site(url), loads, self._max_pages)

    def _learn_polls(self, place: str, seen: Habit) -> None:
        polls = self._polls.get(place, frozenset()).union(map(_place, seen.polls))
        if polls:
            _remember(self._polls, place, frozenset(sorted(polls)[:_MAX_POLLS]), self._max_pages)

    def _learn_timers(self, folder: str, seen: Habit) -> None:
        timers = self._timers.get(folder)
        if timers is None:
            if not seen.vain_timers and not seen.fruitful_timers:
                return
            timers = VainTimers()
        timers.learn(vain=seen.vain_timers, fruitful=seen.fruitful_timers)
        _remember(self._timers, folder, timers, self._max_pages)

    def __len__(self) -> int:
        return len(self._pages)


def _remember(values: OrderedDict[str, _Value], key: str, value: _Value, limit: int) -> None:
    values[key] = value
    values.move_to_end(key)
    while len(values) > limit:
        values.popitem(last=False)


def _site(url: str) -> str:
    return urlsplit(url).netloc


def _folder(url: str) -> str:
    return _place(url).rpartition("/")[0]


def _place(url: str) -> str:
    """The host and path of an address; queries of polls hold a time or a counter."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"
