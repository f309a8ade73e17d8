"""Which guesses are worth a load, and which load goes first.

Invariant: every decision is made here, at once and without waiting; `speccache.speculator` then does what was decided.
In one turn no more than the options allow is taken up, and no more runs at once than there are slots.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic

from speccache.environment import ActionT
from speccache.options import SpeculationOptions
from speccache.predictor import Guess

# How much more plausible a guess must be to take the place of a load that is under way.
_MARGIN = 0.05


@dataclass(slots=True, kw_only=True, eq=False)
class Load(Generic[ActionT]):
    """A guess that was taken up.

    Attributes:
        guess: The guess.
        key: The key of its action.
        plausibility: How likely the target takes it.
        depth: 0 for the target's next action, 1 for the one after.
        turn: The last turn in which it was guessed.
        running: Whether it has started.
    """

    guess: Guess[ActionT]
    key: Hashable
    plausibility: float
    depth: int
    turn: int
    running: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Generic[ActionT]):
    """What became of a guess.

    Attributes:
        load: The load it became; None where it was refused.
        reason: Why it was refused.
        evicted: The load that made room for it.
    """

    load: Load[ActionT] | None = None
    reason: str = ""
    evicted: Load[ActionT] | None = None


class Schedule(Generic[ActionT]):
    """The loads of a run.

    Args:
        options: How much may be taken up and run.
    """

    def __init__(self, options: SpeculationOptions) -> None:
        self._options = options
        self._loads: dict[Hashable, Load[ActionT]] = {}
        self._taken: dict[Hashable, int] = {}
        self._turn = 0

    def begin_turn(self) -> list[Load[ActionT]]:
        """Begin a turn; return the loads of the turn before that never started, now dropped."""
        self._turn += 1
        self._taken = {}
        queued = [load for load in self._loads.values() if not load.running]
        for load in queued:
            self.remove(load)
        return queued

    def is_new(self, key: Hashable) -> bool:
        """Tell whether this turn has not yet taken up the key."""
        return key not in self._taken

    def take_known(self, key: Hashable, *, depth: int) -> bool:
        """Count a guess whose observation is stored or loading; False where the turn takes no more guesses."""
        if self._taken_at(depth) >= self._cap(depth):
            return False
        self._taken[key] = depth
        load = self._loads.get(key)
        if load is not None:
            load.turn = self._turn
        return True

    def offer(self, guess: Guess[ActionT], key: Hashable, *, plausibility: float, depth: int) -> Verdict[ActionT]:
        """Decide about a guess whose key is neither stored nor loading."""
        if plausibility < self._options.min_plausibility:
            return Verdict(reason="implausible")
        evicted = None
        if self._taken_at(depth) >= self._cap(depth):
            evicted = self._least([load for load in self._loads.values() if self._is_current(load, depth)])
            if evicted is None or evicted.plausibility + _MARGIN > plausibility:
                return Verdict(reason="over-cap")
            del self._taken[evicted.key]
        elif self.running >= self._options.max_running:
            # A load of an earlier turn that nobody guesses any more has the slot that this one needs.
            evicted = self._least([load for load in self._loads.values() if load.running and load.turn < self._turn])
        if evicted is not None:
            self.remove(evicted)
        load = Load(guess=guess, key=key, plausibility=plausibility, depth=depth, turn=self._turn)
        self._loads[key] = load
        self._taken[key] = depth
        return Verdict(load=load, evicted=evicted)

    def start_next(self) -> Load[ActionT] | None:
        """Mark the most plausible waiting load as running and return it; None where none waits or no slot is free."""
        waiting = [load for load in self._loads.values() if not load.running]
        if not waiting or self.running >= self._options.max_running:
            return None
        best = max(waiting, key=lambda load: load.plausibility)
        best.running = True
        return best

    def remove(self, load: Load[ActionT]) -> None:
        """Forget a load that ended or was given up."""
        if self._loads.get(load.key) is load:
            del self._loads[load.key]

    def withdraw(self, key: Hashable) -> Load[ActionT] | None:
        """Drop the load of this key and return it, if it still waits."""
        load = self._loads.get(key)
        if load is None or load.running:
            return None
        return self._loads.pop(key)

    def _is_current(self, load: Load[ActionT], depth: int) -> bool:
        return load.turn == self._turn and load.depth == depth and self._taken.get(load.key) == depth

    def _least(self, loads: list[Load[ActionT]]) -> Load[ActionT] | None:
        return min(loads, key=lambda load: (load.turn, load.plausibility), default=None)

    def _taken_at(self, depth: int) -> int:
        return sum(taken == depth for taken in self._taken.values())

    def _cap(self, depth: int) -> int:
        return self._options.max_guesses if depth == 0 else self._options.max_deeper

    def __contains__(self, key: Hashable) -> bool:
        return key in self._loads

    @property
    def running(self) -> int:
        """Loads that have started and not ended."""
        return sum(load.running for load in self._loads.values())

    def __repr__(self) -> str:
        return f"<Schedule turn={self._turn} running={self.running} queued={len(self._loads) - self.running}>"
