"""Cancelling a coroutine at each of its awaits, one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from dataclasses import dataclass
from itertools import count
from typing import Any


@dataclass
class _Cancelling:
    """Awaits a coroutine, and cancels the task it runs in as soon as it waits for the `at`th time."""

    coroutine: Coroutine[Any, Any, Any]
    at: int
    cancelled: bool = False

    def __await__(self) -> Generator[Any, Any, Any]:
        task = asyncio.current_task()
        assert task is not None
        inner = self.coroutine.__await__()
        go_on, value = inner.send, None
        for number in count():
            try:
                waited_for = go_on(value)
            except StopIteration as end:
                return end.value
            if number == self.at:
                self.cancelled = task.cancel()
            try:
                value = yield waited_for
                go_on = inner.send
            except BaseException as error:  # noqa: BLE001 - handed on, as an await does
                go_on, value = inner.throw, error
        return None


async def cancelled_everywhere(work: Callable[[], Coroutine[Any, Any, Any]]) -> AsyncIterator[int]:
    """Run the work again and again, cancelled at its first wait, at its second, …, until it ends before that.

    Yields:
        The number of the wait, after each run that was cancelled.
    """
    at = 0
    while True:
        cancelling = _Cancelling(work(), at)

        async def run(cancelling: _Cancelling = cancelling) -> None:
            await cancelling

        task = asyncio.create_task(run())
        await asyncio.wait([task])
        if not task.cancelled():
            task.result()
        if not cancelling.cancelled:
            return
        yield at
        at += 1
