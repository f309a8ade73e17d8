"""A target that takes its time: stands in for a slow model where none can be reached.

Invariant: pacing changes when a decision comes, never what it is. Whoever shows its timings calls them simulated.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from statistics import fmean

from agent.target import Decision, Target
from browser.action import Action
from browser.observation import Observation
from speccache.environment import Step

PACES: Mapping[str, tuple[float, ...]] = {
    "o4-mini": (9.4, 10.0, 10.0, 10.2, 7.7, 9.6, 8.3, 7.9, 17.2, 9.8),
    "gpt-5-mini": (20.6, 18.9, 16.5, 23.6, 15.2, 16.7, 22.1, 16.7, 21.7, 20.4),
}
"""Published thinking times, in seconds a turn, one for each of ten questions of WebWalkerQA, by the model that decided:
arXiv 2510.16276, Fig. 9 and 10. Their means are 10.0 and 19.2 s."""

_Decide = Callable[[str, Sequence[Step[Action, Observation]]], Awaitable[Decision]]


class PacedTarget:
    """Wraps a target so that each decision takes at least a simulated thinking time.

    Args:
        target: What decides.
        think_seconds: Mean thinking time of a turn.
        pace: Whose published figures single turns are spread as; a name in `PACES`.
        seed: Makes the spread repeatable: a turn takes equally long in every run.
    """

    def __init__(self, target: Target, *, think_seconds: float, pace: str = "o4-mini", seed: int = 0) -> None:
        self._target = target
        self._think_seconds = think_seconds
        self._pace = PACES[pace]
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
        seconds = self._think_seconds * turn.choice(self._pace) / fmean(self._pace)
        started_seconds = time.monotonic()
        decision = await decide(question, trajectory)
        await asyncio.sleep(max(0.0, seconds - (time.monotonic() - started_seconds)))
        return decision
