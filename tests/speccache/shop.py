"""A small shop as async functions, whose reads can be held back by the test and whose every run is written down."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any


class Shop:
    """Users have orders, orders have a state; `cancel` changes one."""

    def __init__(self) -> None:
        self.cancelled: set[int] = set()
        self.runs: list[str] = []
        self.running: Counter[str] = Counter()
        self.gates: dict[str, asyncio.Event] = {}
        self.broken: dict[str, Exception] = {}

    def shut(self, run: str) -> asyncio.Event:
        """Hold back a run, named as `runs` names it, until the returned event is set."""
        return self.gates.setdefault(run, asyncio.Event())

    async def until_running(self, run: str) -> None:
        """Wait until such a run has begun and not ended."""
        while not self.running[run]:
            await asyncio.sleep(0)

    async def until_run(self, run: str) -> None:
        """Wait until such a run has begun."""
        while run not in self.runs:
            await asyncio.sleep(0)

    async def get_user(self, id: int, detail: str = "short") -> dict[str, Any]:  # noqa: A002
        await self._run(f"user {id}")
        return {"id": id, "orders": [id * 10 + number for number in range(3)], "detail": detail}

    async def get_order(self, order: int) -> dict[str, Any]:
        before = order in self.cancelled
        await self._run(f"order {order}")
        return {"order": order, "cancelled": before}

    async def cancel(self, order: int) -> str:
        await self._run(f"cancel {order}")
        self.cancelled.add(order)
        return f"{order} is cancelled"

    async def _run(self, run: str) -> None:
        self.runs.append(run)
        self.running[run] += 1
        try:
            if run in self.gates:
                await self.gates[run].wait()
            if run in self.broken:
                raise self.broken[run]
        finally:
            self.running[run] -= 1
