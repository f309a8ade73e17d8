"""A suite: questions, and the web they are asked on.

Invariant: an offline suite serves its sites itself, on loopback, while a block runs; which questions there are does not
depend on the ports they are served on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from evals.suites.item import Item

Addresses = Mapping[str, str]
"""The address of each site, without a slash at its end, by the site's name."""

Serve = Callable[[float], AbstractAsyncContextManager[Addresses]]
"""Serves the sites of a suite while a block runs, their delays scaled by a factor (1: as published, 0: none)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Questions, and the web they are asked on.

    Attributes:
        name: How reports call it.
        items: The questions, in a fixed order.
        serve: Serves its sites with simulated delays; None: it is asked on the live web, whose delays are real.
        search: The search engine its questions need, as `--search` takes it; `{site}` stands for the site's address.
            Empty: none.
    """

    name: str
    items: tuple[Item, ...]
    serve: Serve | None = None
    search: str = ""
