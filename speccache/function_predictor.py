"""A predictor made from a function.

Invariant: the function's actions are guessed in the order in which it names them, and a generator is closed with the
guessing.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import Generic

from speccache.environment import ActionT, ObservationT, Step
from speccache.predictor import Guess


class FunctionPredictor(Generic[ActionT, ObservationT]):
    """Makes a function a predictor.

    Args:
        predict: Names the actions that may follow the steps so far, the most plausible first: in a list, as a generator
            or as an asynchronous one. What is not asynchronous runs on the event loop and must be quick.
        name: How events and reports call it.
    """

    def __init__(
        self,
        predict: Callable[[Sequence[Step[ActionT, ObservationT]]], Iterable[ActionT] | AsyncIterable[ActionT]],
        *,
        name: str = "predict",
    ) -> None:
        self.name = name
        self._predict = predict

    async def predict(self, trajectory: Sequence[Step[ActionT, ObservationT]], /) -> AsyncIterator[Guess[ActionT]]:
        """Yield the function's actions as guesses.

        Raises:
            Exception: Whatever the function raises.
        """
        rank = 0
        async with aclosing(one_by_one(self._predict(trajectory))) as actions:
            async for action in actions:
                rank += 1
                yield Guess(action=action, predictor=self.name, rank=rank)


async def one_by_one(actions: Iterable[ActionT] | AsyncIterable[ActionT]) -> AsyncGenerator[ActionT]:
    """Yield actions as they are named; an asynchronous generator is closed with this one."""
    if not isinstance(actions, AsyncIterable):
        for action in actions:
            yield action
        return
    try:
        async for action in actions:
            yield action
    finally:
        if isinstance(actions, AsyncGenerator):
            await actions.aclose()
