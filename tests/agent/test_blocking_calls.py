"""Blocking functions: no call waits for one that is run ahead."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextvars import ContextVar

import pytest

from agent.adapters.blocking_calls import BlockingCalls
from speccache import Unspeculable


@pytest.fixture
def calls() -> Iterator[BlockingCalls]:
    made = BlockingCalls("tool", max_called=1, max_ahead=1)
    yield made
    made.close()
    made.close()


async def test_both_return_and_raise_in_threads_of_their_own(calls: BlockingCalls) -> None:
    asking = ContextVar("asking", default="nobody")
    asking.set("ann")

    def work() -> tuple[str, str]:
        return threading.current_thread().name, asking.get()

    def fail() -> None:
        raise OSError("no line")

    assert await calls.called(work) == ("tool_0", "ann")
    assert await calls.ahead(work) == ("tool-ahead", "ann")
    for run in (calls.called, calls.ahead):
        with pytest.raises(OSError, match="no line"):
            await run(fail)
        with pytest.raises(RuntimeError, match="StopIteration"):  # a future cannot hold one, and would never be done
            await run(lambda: next(iter(())))


async def test_what_hangs_ahead_keeps_out_other_guesses_and_no_call(calls: BlockingCalls) -> None:
    begun, gate = threading.Event(), threading.Event()

    def hang() -> bool:
        begun.set()
        return gate.wait()

    ahead = asyncio.create_task(calls.ahead(hang))
    assert await calls.called(begun.wait)
    with pytest.raises(Unspeculable, match="no-thread"):
        await calls.ahead(bool)
    assert await calls.called(lambda: 7) == 7
    ahead.cancel()
    await asyncio.wait([ahead])
    with pytest.raises(Unspeculable, match="no-thread"):  # nothing stops a thread
        await calls.ahead(bool)
    gate.set()
    while "tool-ahead" in [thread.name for thread in threading.enumerate()]:
        await asyncio.sleep(0)
    assert await calls.ahead(bool) is False


async def test_what_hangs_ahead_does_not_hold_the_program(calls: BlockingCalls) -> None:
    assert await calls.ahead(lambda: threading.current_thread().daemon)


async def test_without_a_thread_nothing_runs_ahead(calls: BlockingCalls, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(Unspeculable, match="no-thread"):
            await calls.ahead(bool)
    assert await calls.ahead(bool) is False, "its place is free"


async def test_what_ends_after_its_caller_was_cancelled_is_counted(calls: BlockingCalls) -> None:
    begun, gate = threading.Event(), threading.Event()
    call = asyncio.create_task(calls.called(lambda: begun.set() or gate.wait()))
    while not begun.is_set():
        await asyncio.sleep(0)
    call.cancel()
    await asyncio.wait([call])
    assert calls.unheard == 0
    gate.set()
    while not calls.unheard:
        await asyncio.sleep(0)
    assert await calls.called(bool) is False
    assert calls.unheard == 1
