"""Tries a call again where that may help.

Invariant: only a `ModelUnreachable` is tried again, never sooner than its endpoint asks for, and every attempt after
the first is told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_random, wait_random_exponential

from agent.errors import ModelLate, ModelUnreachable
from agent.events import CallKind
from agent.models.call_log import CallLog
from agent.models.chat import Attempt, Chat, GivenT, Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryOptions:
    """How often and when a call is tried again.

    Attributes:
        max_retries: Attempts after the first.
        first_wait_seconds: The wait is anything up to this, then twice, four times … as much.
        max_wait_seconds: It grows no further.
        max_asked_seconds: An endpoint that asks for a longer rest is given up.
        again_when_late: Whether an attempt that took too long is tried again; where another model can be asked, that
            is sooner.
        spread_seconds: Added at random to what an endpoint asks for, lest all its clients come back at once.
    """

    max_retries: int = 2
    first_wait_seconds: float = 1.0
    max_wait_seconds: float = 20.0
    max_asked_seconds: float = 60.0
    again_when_late: bool = True
    spread_seconds: float = 1.0


class RetryingModel(Policy):
    """Tries a call again, after a wait with jitter.

    Args:
        model: The model to call; it stays its owner's.
        log: Where to tell of retries.
        options: How often and when.
        sleep: Waits for so many seconds.

    Cancellation: ends the attempt or the wait.
    """

    def __init__(
        self,
        model: Chat,
        log: CallLog,
        *,
        options: RetryOptions = RetryOptions(),
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(model)
        self._log = log
        self._options = options
        self._sleep = sleep
        self._wait = wait_random_exponential(multiplier=options.first_wait_seconds, max=options.max_wait_seconds)
        self._spread = wait_random(0, options.spread_seconds)

    async def _call(self, attempt: Attempt[GivenT], stack: AsyncExitStack) -> GivenT:
        async def once() -> GivenT:
            return await attempt(self._model, stack)

        retrying = AsyncRetrying(
            retry=retry_if_exception_type(ModelUnreachable),
            stop=self._hopeless,
            wait=self._wait_seconds,
            before_sleep=self._tell,
            sleep=self._sleep,
            reraise=True,
        )
        return await retrying(once)

    def _hopeless(self, state: RetryCallState) -> bool:
        error = _error(state)
        if isinstance(error, ModelLate) and not self._options.again_when_late:
            return True
        asked_seconds = error.retry_after_seconds or 0.0
        return state.attempt_number > self._options.max_retries or asked_seconds > self._options.max_asked_seconds

    def _wait_seconds(self, state: RetryCallState) -> float:
        asked_seconds = _error(state).retry_after_seconds
        return self._wait(state) if asked_seconds is None else asked_seconds + self._spread(state)

    def _tell(self, state: RetryCallState) -> None:
        self._log.tell(CallKind.RETRY, reason=str(_error(state)), seconds=state.upcoming_sleep)


def _error(state: RetryCallState) -> ModelUnreachable:
    """Return why the attempt failed; it is asked for only where it did."""
    error = state.outcome.exception() if state.outcome else None
    return error if isinstance(error, ModelUnreachable) else ModelUnreachable("")
