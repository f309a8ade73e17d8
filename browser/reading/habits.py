"""What is known of pages from earlier loads of them.

Invariant: it is only a head start. A page that is not known yet is read as well as a known one, only later; and where a
page no longer keeps to its habit, that costs waiting and no text.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, replace
from typing import TypeVar
from urllib.parse import urlsplit

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
    """

    polls: frozenset[str] = frozenset()
    characters: int = 0
    late_milliseconds: float = 0.0


class Habits:
    """Remembers pages, and how late the text came on the last pages of a site.

    Args:
        max_pages: How many pages, and how many sites, are remembered; the one not seen for longest is forgotten first.
    """

    def __init__(self, *, max_pages: int = 1_000) -> None:
        self._max_pages = max_pages
        self._pages: OrderedDict[str, Habit] = OrderedDict()
        self._sites: OrderedDict[str, deque[float]] = OrderedDict()

    def expected(self, url: str) -> Habit:
        """Return what is known of the page at this address, and of its site."""
        known = self._pages.get(_place(url), Habit())
        return replace(known, late_milliseconds=max((known.late_milliseconds, *self._sites.get(_site(url), ()))))

    def learn(self, url: str, seen: Habit) -> None:
        """Remember what a page did.

        Its text is what it was the last time, its polls are all that were ever seen.
        """
        place = _place(url)
        known = self._pages.get(place, Habit())
        polls = sorted(known.polls.union(map(_place, seen.polls)))[:_MAX_POLLS]
        page = replace(seen, polls=frozenset(polls), characters=seen.characters or known.characters)
        if page == Habit():
            return
        _remember(self._pages, place, page, self._max_pages)
        loads = self._sites.get(_site(url), deque(maxlen=_MAX_LOADS))
        loads.append(seen.late_milliseconds)
        _remember(self._sites, _site(url), loads, self._max_pages)

    def __len__(self) -> int:
        return len(self._pages)


def _remember(values: OrderedDict[str, _Value], key: str, value: _Value, limit: int) -> None:
    values[key] = value
    values.move_to_end(key)
    while len(values) > limit:
        values.popitem(last=False)


def _site(url: str) -> str:
    return urlsplit(url).netloc


def _place(url: str) -> str:
    """The host and path of an address; queries of polls hold a time or a counter."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"
