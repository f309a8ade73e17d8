"""Blocking work never outlives the call that waits for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from speccache.threads import Threads


class Work:
    """Blocks its thread until it is interrupted or let go."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._go = threading.Event()
        self.begun = asyncio.Event()
        self.interrupts = 0
        self.ended = False

    def __call__(self) -> str:
        self._loop.call_soon_threadsafe(self.begun.set)
        self._go.wait(timeout=30)
        self.ended = True
        return "done"

    def let_go(self) -> None:
        self._go.set()

    def interrupt(self) -> None:
        """Heed only the second call, as if the first had come too early."""
        self.interrupts += 1
        if self.interrupts > 1:
            self.let_go()


@pytest.fixture
async def threads() -> AsyncIterator[Threads]:
    threads = Threads("test", max_threads=1)
    yield threads
    threads.close()
    threads.close()


def new_work() -> Work:
    return Work(asyncio.get_running_loop())


async def test_a_result_and_an_error_come_through(threads: Threads) -> None:
    assert await threads.run(lambda: 3) == 3
    with pytest.raises(ValueError, match="invalid literal"):
        await threads.run(lambda: int("three"))


async def test_cancelled_work_is_interrupted_until_it_ends(threads: Threads) -> None:
    work = new_work()
    task = asyncio.create_task(threads.run(work, interrupt=work.interrupt))
    await work.begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert work.ended
    assert work.interrupts == 2


async def test_a_second_cancellation_does_not_leave_the_thread_behind(threads: Threads) -> None:
    work = new_work()
    task = asyncio.create_task(threads.run(work))
    await work.begun.wait()
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    assert not task.done()
    work.let_go()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert work.ended


async def test_work_that_waits_for_a_thread_never_begins(threads: Threads) -> None:
    first, second = new_work(), new_work()
    running = asyncio.create_task(threads.run(first))
    await first.begun.wait()
    waiting = asyncio.create_task(threads.run(second, interrupt=second.interrupt))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    first.let_go()
    assert await running == "done"
    assert await threads.run(second.begun.is_set) is False
    assert second.interrupts == 0
