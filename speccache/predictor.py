"""What guesses the target's next actions.

Invariant: a predictor only names actions; it never runs one, and a wrong name costs resources, never correctness.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol

from speccache.environment import ActionT, ObservationT, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess(Generic[ActionT]):
    """An action the target may take next.

    Attributes:
        action: The action.
        predictor: Name of the predictor that named it.
        rank: Its place among this predictor's guesses for this turn, from 1.
        score: How plausible the predictor holds it, 0 to 1; comparable within one predictor.
    """

    action: ActionT
    predictor: str
    rank: int
    score: float = 0.0


class Predictor(Protocol[ActionT, ObservationT]):
    """Guesses the target's next actions."""

    @property
    def name(self) -> str:
        """How events and reports call it."""
        ...

    def predict(self, trajectory: Sequence[Step[ActionT, ObservationT]], /) -> AsyncIterator[Guess[ActionT]]:
        """Yield guesses for the action after the last step, the most plausible first, each as soon as it is known.

        The iterator may be closed at any time; whatever it started must end with it.
        """
        ...
