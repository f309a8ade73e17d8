"""Real loads go first: what speculation would ask of the network waits for them, for a moment.

Invariant: nobody waits longer than the patience, so that a real load which itself only waits for its server does not
hold up what could be loaded meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class RightOfWay:
    """Held by real loads, waited for by speculative requests.

    Args:
        patience_seconds: How long one request waits at most.
    """

    def __init__(self, *, patience_seconds: float = 0.5) -> None:
        self._patience_seconds = patience_seconds
        self._holders = 0
        self._holds = 0
        self._free = asyncio.Event()
        self._free.set()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold it while a real load runs."""
        self._holders += 1
        self._holds += 1
        self._free.clear()
        try:
            yield
        finally:
            self._holders -= 1
            if self._holders == 0:
                self._free.set()

    async def wait(self) -> None:
        """Wait until no real load runs, or the patience is over."""
        if self._free.is_set():
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience_seconds):
                await self._free.wait()

    async def wait_for_quiet(self, *, seconds: float) -> None:
        """Wait until no real load has run for this long."""
        while True:
            await self._free.wait()
            holds = self._holds
            await asyncio.sleep(seconds)
            if self._holds == holds and self._holders == 0:
                return

    def __repr__(self) -> str:
        return f"<RightOfWay holders={self._holders}>"
