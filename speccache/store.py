"""Finished observations: an LRU bounded by entries, bytes and age.

Invariant: `get` never returns an entry older than its age limit, and neither bound is ever exceeded.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

ValueT = TypeVar("ValueT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Generic[ValueT]):
    """One stored value and what is known of it.

    Attributes:
        value: The value.
        size_bytes: What it counts against the byte bound.
        load_seconds: How long it took to get.
        expires_seconds: When it becomes unusable, on the store's clock.
        single_use: Whether it may be taken only once.
    """

    value: ValueT
    size_bytes: int
    load_seconds: float
    expires_seconds: float
    single_use: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetime:
    """For how long a value may be used again.

    Attributes:
        max_age_seconds: How long; 0 or less: not at all; None: as long as the store keeps it.
        single_use: Whether it may serve only the next step, and only once.
    """

    max_age_seconds: float | None = None
    single_use: bool = False


class Store(Generic[ValueT]):
    """An LRU of finished values.

    Args:
        max_entries: How many entries it holds at most.
        max_bytes: How many bytes they may occupy together; a single larger value is not kept.
        max_age_seconds: How long an entry is usable at most.
        clock: Where the time comes from, in seconds.
    """

    def __init__(
        self,
        *,
        max_entries: int = 256,
        max_bytes: int = 64 * 1024 * 1024,
        max_age_seconds: float = 300.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.max_entries = max_entries
        self.max_bytes = max_bytes
        self.max_age_seconds = max_age_seconds
        self._clock = clock
        self._entries: OrderedDict[Hashable, Entry[ValueT]] = OrderedDict()
        self._size_bytes = 0

    def get(self, key: Hashable) -> Entry[ValueT] | None:
        """Return the fresh entry under the key, now the most recently used, or None."""
        if key not in self:
            return None
        self._entries.move_to_end(key)
        return self._entries[key]

    def take(self, key: Hashable) -> Entry[ValueT] | None:
        """Return the fresh entry under the key as `get` does; one for single use is then gone."""
        entry = self.get(key)
        if entry is not None and entry.single_use:
            self.discard(key)
        return entry

    def drop_single_use(self) -> None:
        """Drop what was only to serve a step that is now over."""
        for key in [key for key, entry in self._entries.items() if entry.single_use]:
            self.discard(key)

    def put(
        self,
        key: Hashable,
        value: ValueT,
        *,
        size_bytes: int = 0,
        load_seconds: float = 0.0,
        lifetime: Lifetime = Lifetime(),
    ) -> bool:
        """Keep a value, at the cost of the least recently used ones.

        Args:
            key: What the value is found by; an older entry under it is replaced.
            value: The value.
            size_bytes: What it counts against the byte bound.
            load_seconds: How long it took to get.
            lifetime: How long it is usable, where shorter than the store's own limit.

        Returns:
            Whether it was kept.
        """
        self.discard(key)
        limits = (self.max_age_seconds, lifetime.max_age_seconds)
        age_seconds = min(limit for limit in limits if limit is not None)
        if size_bytes > self.max_bytes or self.max_entries < 1 or age_seconds <= 0:
            return False
        self._entries[key] = Entry(
            value=value,
            size_bytes=size_bytes,
            load_seconds=load_seconds,
            expires_seconds=self._clock() + age_seconds,
            single_use=lifetime.single_use,
        )
        self._size_bytes += size_bytes
        while len(self._entries) > self.max_entries or self._size_bytes > self.max_bytes:
            self.discard(next(iter(self._entries)))
        return True

    def discard(self, key: Hashable) -> None:
        """Drop the entry under the key, if there is one."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._size_bytes -= entry.size_bytes

    def __contains__(self, key: Hashable) -> bool:
        """Tell whether a fresh entry is there, without using it; a stale one is dropped."""
        entry = self._entries.get(key)
        if entry is not None and self._clock() >= entry.expires_seconds:
            self.discard(key)
            return False
        return entry is not None

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def size_bytes(self) -> int:
        """What all entries occupy together."""
        return self._size_bytes

    def __repr__(self) -> str:
        return f"<Store entries={len(self)}/{self.max_entries} bytes={self._size_bytes}/{self.max_bytes}>"
