"""Leaves a model alone that fails again and again.

Invariant: while a model is paused, no call to it begins; when the pause is over, one call at a time tries it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Literal

from agent.errors import ModelPaused, ModelUnreachable
from agent.events import CallKind
from agent.models.call_log import CallLog
from agent.models.chat import Attempt, Chat, GivenT, Policy

State = Literal["closed", "open", "probing"]


class CircuitBreaker:
    """Decides whether a model may be called; shared by all that call it.

    Attributes:
        state: `closed`: it may; `open`: it is paused; `probing`: one call tries it after a pause.

    Args:
        max_failures: Calls that failed in a row, after their retries, before the model is paused.
        pause_seconds: How long it is paused.
        clock: Where the time comes from, in seconds.
    """

    def __init__(
        self, *, max_failures: int = 3, pause_seconds: float = 30.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.state: State = "closed"
        self.pause_seconds = pause_seconds
        self._max_failures = max_failures
        self._clock = clock
        self._failures = 0
        self._until_seconds = 0.0

    def admit(self) -> bool:
        """Let a call through; say whether it is the one that tries the model after a pause.

        Raises:
            ModelPaused: The model may not be called now.
        """
        if self.state == "closed":
            return False
        left_seconds = self._until_seconds - self._clock()
        if self.state == "probing" or left_seconds > 0:
            raise ModelPaused(
                f"It failed {self._failures} times in a row and is left alone for {max(0.0, left_seconds):.0f} s.",
                hint="Try again later, or name another model with --fallback.",
            )
        self.state = "probing"
        return True

    def failed(self) -> bool:
        """Count a call that failed; say whether the model is paused for it."""
        self._failures += 1
        pauses = self.state == "probing" or (self.state == "closed" and self._failures >= self._max_failures)
        if pauses:
            self.state = "open"
            self._until_seconds = self._clock() + self.pause_seconds
        return pauses

    def succeeded(self) -> None:
        """Count a call that reached the model."""
        self.state = "closed"
        self._failures = 0

    def abandoned(self) -> None:
        """Count a call that ended without showing anything; if it was the one that tries, the next one may."""
        if self.state == "probing":
            self.state = "open"


class BreakerModel(Policy):
    """Calls a model only while its breaker lets it.

    Args:
        model: The model to call; it stays its owner's.
        breaker: Decides; shared by all that call this model.
        log: Where to tell of pauses.
    """

    def __init__(self, model: Chat, breaker: CircuitBreaker, log: CallLog) -> None:
        super().__init__(model)
        self._breaker = breaker
        self._log = log

    async def _call(self, attempt: Attempt[GivenT], stack: AsyncExitStack) -> GivenT:
        probing = self._breaker.admit()
        if probing:
            self._log.tell(CallKind.PROBE)
        try:
            given = await attempt(self._model, stack)
        except ModelUnreachable as error:
            if self._breaker.failed():
                self._log.tell(CallKind.PAUSE, reason=str(error), seconds=self._breaker.pause_seconds)
            raise
        except BaseException:
            # Cancelled, or refused for what it asks: neither tells whether the model is well.
            if probing:
                self._breaker.abandoned()
            raise
        self._breaker.succeeded()
        if probing:
            self._log.tell(CallKind.RESUME)
        return given
