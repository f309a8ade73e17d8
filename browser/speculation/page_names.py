"""Which addresses name the same page, as far as the pages loaded so far have shown.

Invariant: an address keeps the key under which its page was first loaded, so that what is stored stays reachable.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

from browser.address import page_key
from browser.speculation.search_variance import DEFAULT, SearchVariance, parse


class PageNames:
    """The page keys of one session's pages, each found by all addresses that are known to lead to it.

    Two things are learned from a load: which address a redirect led to, and what of its query the server says matters.

    Args:
        max_pages: How many are remembered; the least recently learned are forgotten first.
    """

    def __init__(self, *, max_pages: int = 1024) -> None:
        self._max_pages = max_pages
        self._variances: OrderedDict[str, SearchVariance] = OrderedDict()
        self._names: OrderedDict[tuple[SearchVariance, str], str] = OrderedDict()
        self._aliases: OrderedDict[str, str] = OrderedDict()

    def learn_redirect(self, requested_url: str, url: str) -> None:
        """Take up that a request for one address ended at another: both name the page from now on."""
        requested, final = self.key(requested_url), self.key(url)
        if requested != final:
            _remember(self._aliases, final, requested, limit=self._max_pages)

    def learn(self, url: str, header: str) -> None:
        """Take up what a page's `No-Vary-Search` says; empty where it has none."""
        variance = parse(header)
        path = _path(url)
        if variance == DEFAULT:
            self._variances.pop(path, None)
            return
        _remember(self._variances, path, variance, limit=self._max_pages)
        _remember(self._names, (variance, variance.key(url)), page_key(url), limit=self._max_pages)

    def key(self, url: str) -> str:
        """Return the page key under which the page behind a URL was learned; else the URL's own page key."""
        variance = self._variances.get(_path(url))
        key = page_key(url)
        known = key if variance is None else self._names.get((variance, variance.key(url)), key)
        return self._aliases.get(known, known)

    def __len__(self) -> int:
        return len(self._names)


def _path(url: str) -> str:
    return page_key(url).partition("#")[0].partition("?")[0]


def _remember(memory: OrderedDict[Any, Any], key: Hashable, value: Any, *, limit: int) -> None:
    memory[key] = value
    memory.move_to_end(key)
    if len(memory) > limit:
        memory.popitem(last=False)
