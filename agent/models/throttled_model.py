"""Keeps the calls to a provider under its rate limit.

Invariant: no more attempts begin in a period than the throttle lets through, whichever model and question they are for.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AsyncExitStack

from agent.models.chat import Attempt, Chat, GivenT, Policy


class ThrottledModel(Policy):
    """Waits for its turn before each attempt.

    Args:
        model: The model to call; it stays its owner's.
        throttle: Entering it takes as long as the limit demands; models at one provider share it.

    Cancellation: who is cancelled while waiting has used up nothing.
    """

    def __init__(self, model: Chat, throttle: AbstractAsyncContextManager[object]) -> None:
        super().__init__(model)
        self._throttle = throttle

    async def _call(self, attempt: Attempt[GivenT], stack: AsyncExitStack) -> GivenT:
        async with self._throttle:
            pass
        return await attempt(self._model, stack)
