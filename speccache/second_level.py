"""A second, slower level under the store, which outlives the run: on disk, or shared between machines.

Invariant: a lookup costs the target at most the level's own patience, and nothing that goes wrong in a level is seen
above it: an observation that cannot be had from there is had from the environment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, runtime_checkable

ValueT = TypeVar("ValueT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(Generic[ValueT]):
    """An observation, and where it is from.

    Attributes:
        value: The observation.
        remaining_seconds: For how long it may still be used, where it comes from the second level; None: it was
            observed just now.
        level: What events call the level that it comes from.
    """

    value: ValueT
    remaining_seconds: float | None = None
    level: str = "shelf"

    @property
    def shelved(self) -> bool:
        """Whether it comes from the second level."""
        return self.remaining_seconds is not None

    @property
    def origin(self) -> str:
        """What events say of where it is from."""
        return self.level if self.shelved else ""


class SecondLevel(Protocol[ValueT]):
    """Keeps observations beyond a run. It belongs to who opened it; a speculative environment only uses it."""

    @property
    def patience_seconds(self) -> float:
        """How long a lookup may take; much less than an observation takes."""
        ...

    async def get(self, key: Hashable, /) -> Found[ValueT] | None:
        """Return what is kept under the key and may still be used, with its remaining time; else None.

        Never raises. May be cancelled at any time, and then ends at once.
        """
        ...

    def put(self, key: Hashable, value: ValueT, /) -> None:
        """Take up an observation that was made just now, if it is fit to be kept; never raises, never waits."""
        ...


@runtime_checkable
class SharedLevel(Protocol[ValueT]):
    """Keeps observations that several workers make, and tells them who is to make which: none is made twice at once.

    It belongs to who opened it; a speculative environment only uses it.
    """

    @property
    def target_seconds(self) -> float:
        """How long a target waits for another worker's observation, before it makes its own."""
        ...

    @property
    def ahead_seconds(self) -> float:
        """How long a speculation does."""
        ...

    async def claim(self, key: Hashable, /) -> Found[ValueT] | None:
        """Return what is kept under the key, waiting for a worker that is making it; None: make it, then `release` it.

        Where no other worker makes it, or the level is in trouble, it ends at once: much sooner than an observation
        takes. Never raises. May be cancelled at any time, and then ends at once.
        """
        ...

    def put(self, key: Hashable, value: ValueT, /) -> None:
        """Take up an observation that was made just now, if it is fit to be kept; never raises, never waits."""
        ...

    def decline(self, key: Hashable, /) -> None:
        """Learn that what was made just now is not to be kept, so that nobody need wait for it; in place of `put`."""
        ...

    def release(self, key: Hashable, /) -> None:
        """Let others make it, if this worker was to; after `put` where there is a `put`. Never raises, never waits."""
        ...


async def look_up(level: SecondLevel[ValueT] | None, key: Hashable) -> Found[ValueT] | None:
    """Ask the second level, if there is one, for no longer than its patience."""
    if level is None:
        return None
    try:
        async with asyncio.timeout(level.patience_seconds):
            return await level.get(key)
    except TimeoutError:
        return None
