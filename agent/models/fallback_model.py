"""Asks another model where one fails.

Invariant: a model is asked only after all before it failed in this call, and each step down is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from agent.errors import ModelError
from agent.events import CallKind
from agent.models.call_log import CallLog
from agent.models.chat import Attempt, Chat, GivenT, Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A model to ask, and where to tell that it failed."""

    model: Chat
    log: CallLog


class FallbackModel(Policy):
    """Asks its models in order until one answers; its name is that of the first.

    Args:
        candidates: The models, at least one; they stay their owner's.
    """

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        super().__init__(candidates[0].model)
        self._candidates = tuple(candidates)

    async def _call(self, attempt: Attempt[GivenT], stack: AsyncExitStack) -> GivenT:
        *others, last = self._candidates
        for candidate in others:
            try:
                return await attempt(candidate.model, stack)
            except ModelError as error:
                candidate.log.tell(CallKind.FALLBACK, reason=str(error))
        return await attempt(last.model, stack)
