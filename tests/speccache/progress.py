"""Waiting until speculation has come so far."""

from __future__ import annotations

import asyncio

from speccache import Event, EventKind


async def until(events: list[Event], kind: EventKind, count: int = 1) -> None:
    """Wait until this many events of a kind have happened."""
    while sum(event.kind is kind for event in events) < count:
        await asyncio.sleep(0)
