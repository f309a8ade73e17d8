"""How often guesses come true, learned per predictor and rank.

Invariant: a plausibility is a probability, 0 to 1, and moves from its prior towards what was measured.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from speccache.predictor import Guess

# Before anything is measured: a predictor's first guess is right every other time, the next ones less and less often
# (links ranked by an embedding on real sites: recall .42 at 1, .80 at 3, .91 at 5).
_PRIORS = (0.42, 0.22, 0.16)
_PRIOR_LATER = 0.06


@dataclass(slots=True)
class _Record:
    taken: float = 0.0
    made: float = 0.0


class Acceptance:
    """Counts guesses made and guesses taken.

    Args:
        priors: Measured rates of a predictor's first, second, third … guess, by its name.
        prior_weight: How many guesses the prior is worth.
    """

    def __init__(self, priors: Mapping[str, Sequence[float]] | None = None, *, prior_weight: float = 4.0) -> None:
        self._priors = priors or {}
        self._prior_weight = prior_weight
        self._records: dict[tuple[str, int], _Record] = {}

    def plausibility(self, guess: Guess[Any]) -> float:
        """Return how likely the target takes this guess, by its predictor and rank."""
        record = self._records.get((guess.predictor, guess.rank), _Record())
        priors = self._priors.get(guess.predictor, _PRIORS)
        prior = priors[guess.rank - 1] if guess.rank <= len(priors) else _PRIOR_LATER
        return (record.taken + prior * self._prior_weight) / (record.made + self._prior_weight)

    def learn(self, guesses: Iterable[tuple[Guess[Any], Hashable]], taken: Hashable) -> None:
        """Learn from one turn: the guesses made for it by key, and the key the target took."""
        for guess, key in guesses:
            record = self._records.setdefault((guess.predictor, guess.rank), _Record())
            record.made += 1
            record.taken += key == taken

    def __repr__(self) -> str:
        rates = (f"{name}@{rank} {r.taken:g}/{r.made:g}" for (name, rank), r in sorted(self._records.items()))
        return f"<Acceptance {', '.join(rates)}>"
