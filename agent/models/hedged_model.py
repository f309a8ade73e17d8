"""Sends a second request where the first is late; the first good answer wins.

Invariant: whatever ends a call, no request of it is left running: the loser is cancelled, and what it cost is told by
what meters the requests. A call to a model has no effects but its cost, so doing it twice is safe.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from dataclasses import dataclass
from typing import Any, Generic

from agent.errors import ModelError
from agent.events import CallKind
from agent.models.call_log import CallLog
from agent.models.chat import Attempt, Chat, GivenT, Policy
from agent.models.hedging import Hedging


@dataclass(slots=True)
class _Runner(Generic[GivenT]):
    """An attempt that runs, and what it holds open."""

    task: asyncio.Task[GivenT]
    stack: AsyncExitStack


class _Race(Generic[GivenT]):
    """Attempts that run against each other.

    Resource handling: owns their tasks and what they hold open, until `aclose()`; a winner's hold is taken out.
    """

    def __init__(self) -> None:
        self._runners: list[_Runner[GivenT]] = []

    def start(self, attempt: Callable[[AsyncExitStack], Coroutine[Any, Any, GivenT]]) -> asyncio.Task[GivenT]:
        """Start an attempt."""
        stack = AsyncExitStack()
        task = asyncio.create_task(attempt(stack))
        self._runners.append(_Runner(task, stack))
        return task

    async def winner(self) -> _Runner[GivenT]:
        """Wait for the first attempt that succeeds.

        Raises:
            ModelError: All failed; this is why the first did.
        """
        pending = {runner.task for runner in self._runners}
        while pending:
            _, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for runner in self._runners:
                if not runner.task.done():
                    continue
                error = runner.task.exception()
                if error is None:
                    return runner
                if not isinstance(error, ModelError):
                    raise error
        raise self._runners[0].task.exception() or AssertionError("an attempt that failed has no error")

    async def aclose(self) -> None:
        """Cancel what still runs, wait for it, and close what it holds open; nothing cuts that short."""
        await asyncio.shield(asyncio.create_task(self._close()))

    async def _close(self) -> None:
        for runner in self._runners:
            runner.task.cancel()
        await asyncio.wait([runner.task for runner in self._runners])
        for runner in self._runners:
            if not runner.task.cancelled():
                runner.task.exception()  # else asyncio warns that nobody asked
            await runner.stack.aclose()


class HedgedModel(Policy):
    """Sends a second request once the first has run for longer than most do.

    Args:
        model: The model to call; it stays its owner's.
        hedging: Decides when and whether; shared by all whose calls take about as long.
        log: Where to tell of second requests.
        throttle: Entered before a second request is sent, as whoever calls this model did before the first.
        sleep: Waits for so many seconds.
        clock: Where the time comes from, in seconds.

    Cancellation: cancels both requests, and waits until they are gone.
    """

    def __init__(
        self,
        model: Chat,
        hedging: Hedging,
        log: CallLog,
        *,
        throttle: AbstractAsyncContextManager[object] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(model)
        self._hedging = hedging
        self._log = log
        self._throttle = throttle or nullcontext()
        self._sleep = sleep
        self._clock = clock

    async def _call(self, attempt: Attempt[GivenT], stack: AsyncExitStack) -> GivenT:
        self._hedging.begin()
        started_seconds = self._clock()
        race = _Race[GivenT]()

        async def send_second(held: AsyncExitStack) -> GivenT:
            await self._earn_second(started_seconds)
            return await attempt(self._model, held)

        first = race.start(lambda held: attempt(self._model, held))
        try:
            if await self._is_late(first) and self._hedging.spend():
                race.start(send_second)
            winner = await race.winner()
            # A first request that lost would have taken longer still; see `Hedging`.
            self._hedging.measure(self._clock() - started_seconds)
            if winner.task is not first:
                self._log.tell(CallKind.SECOND)
            stack.push_async_callback(winner.stack.pop_all().aclose)
            return winner.task.result()
        finally:
            await race.aclose()

    async def _earn_second(self, started_seconds: float) -> None:
        """Wait until the rate limit allows a second request; one that is not needed by then was never sent."""
        try:
            async with self._throttle:
                pass
        except asyncio.CancelledError:
            self._hedging.give_back()
            raise
        self._log.tell(CallKind.HEDGE, seconds=self._clock() - started_seconds)

    async def _is_late(self, first: asyncio.Task[GivenT]) -> bool:
        """Wait for the first request, but not for longer than most take; say whether it is still running."""
        timer = asyncio.create_task(self._wait())
        try:
            await asyncio.wait({first, timer}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
            await asyncio.wait({timer})
        return not first.done()

    async def _wait(self) -> None:
        await self._sleep(self._hedging.delay_seconds)
