"""A target that takes its time: stands in for a slow model where none can be reached.

Invariant: pacing changes when a decision comes, never what it is. Whoever shows its timings calls them simulated.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence

from agent.target import Decision, Target
from browser.action import Action
from browser.observation import Observation
from speccache.environment import Step

# Mean seconds of model time per iteration, ten questions, o4-mini as the target: arXiv 2510.16276, Fig. 9.
PUBLISHED_THINKING_SECONDS = (9.4, 10.0, 10.0, 10.2, 7.7, 9.6, 8.3, 7.9, 17.2, 9.8)
PUBLISHED_MEAN_SECONDS = 10.0

_Decide = Callable[[str, Sequence[Step[Action, Observation]]], Awaitable[Decision]]


class PacedTarget:
    """Wraps a target so that each decision takes at least a simulated thinking time.

    Args:
        target: What decides.
        think_seconds: Mean thinking time of a turn; single turns are spread as the published figures are.
        seed: Makes the spread repeatable: a turn takes equally long in every run.
    """

    def __init__(self, target: Target, *, think_seconds: float, seed: int = 0) -> None:
        self._target = target
        self._think_seconds = think_seconds
        self._seed = seed

    @property
    def name(self) -> str:
        """The wrapped target's name."""
        return self._target.name

    async def decide(self, question: str, trajectory: Sequence[Step[Action, Observation]], /) -> Decision:
        """Let the target decide, and return its decision no sooner than the thinking time is over."""
        return await self._paced(question, trajectory, self._target.decide)

    async def conclude(self, question: str, trajectory: Sequence[Step[Action, Observation]], /) -> Decision:
        """Let the target conclude, as slowly as it decides."""
        return await self._paced(question, trajectory, self._target.conclude)

    async def _paced(self, question: str, trajectory: Sequence[Step[Action, Observation]], decide: _Decide) -> Decision:
        turn = random.Random(f"{self._seed} {question} {len(trajectory)}")  # noqa: S311 - repeatable, no secret
        seconds = self._think_seconds * turn.choice(PUBLISHED_THINKING_SECONDS) / PUBLISHED_MEAN_SECONDS
        started_seconds = time.monotonic()
        decision = await decide(question, trajectory)
        await asyncio.sleep(max(0.0, seconds - (time.monotonic() - started_seconds)))
        return decision
