"""Tasks that nobody waits for, but that somebody owns.

Invariant: none outlives its owner's `aclose()`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


class Errands:
    """A set of tasks that run by the side.

    Resource handling: owns its tasks; close it with `aclose()`.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def run(self, errand: Coroutine[Any, Any, None], *, name: str) -> asyncio.Task[None]:
        """Start one; an error that it raises is a bug, and is logged as such."""
        task = asyncio.create_task(errand, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def wait(self, *, seconds: float) -> None:
        """Wait until all are done, for so long at most."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)

    async def aclose(self, *, seconds: float) -> None:
        """Cancel what runs and wait for it, for so long at most; may be called twice."""
        for task in self._tasks:
            task.cancel()
        await self.wait(seconds=seconds)

    def __len__(self) -> int:
        return len(self._tasks)
