"""Tasks that are waiting, under way or done, for several workers that may die.

Invariant: a task that was taken is either settled or comes back; after so many attempts it is settled as lost, so that
one that kills its workers ends.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Generic

from agent.cluster.opening import TaskT


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt(Generic[TaskT]):
    """A task, and how often it was begun.

    Attributes:
        task: It.
        number: Which attempt this is, from 1.
    """

    task: TaskT
    number: int = 1


class Backlog(Generic[TaskT]):
    """Hands out tasks.

    Args:
        tasks: All there are, in the order in which they are begun.
        max_attempts: How often one is begun.

    Attributes:
        finished: Set once every task is settled.
    """

    def __init__(self, tasks: Iterable[TaskT], *, max_attempts: int) -> None:
        self.finished = asyncio.Event()
        self._waiting = deque(Attempt(task=task) for task in tasks)
        self._max_attempts = max_attempts
        self._unsettled = len(self._waiting)
        self._changed = asyncio.Event()
        if not self._unsettled:
            self.finished.set()

    async def take(self) -> Attempt[TaskT]:
        """Wait for a task; one that was taken by somebody else may come back."""
        while not self._waiting:
            self._changed.clear()
            await self._changed.wait()
        return self._waiting.popleft()

    def give_back(self, attempt: Attempt[TaskT]) -> bool:
        """Take a task back whose worker died; tell whether it is begun again, which it is before all others."""
        if attempt.number >= self._max_attempts:
            self.settle()
            return False
        self._waiting.appendleft(replace(attempt, number=attempt.number + 1))
        self._changed.set()
        return True

    def settle(self) -> None:
        """Count a task as settled, done or lost."""
        self._unsettled -= 1
        if not self._unsettled:
            self.finished.set()
