"""The knobs of speculation, in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculationOptions:
    """How much is run ahead, and how much is kept.

    Attributes:
        max_guesses: Guesses taken up a turn at most; 3 in the paper (arXiv 2510.16276). The real number is smaller
            where guesses have not been coming true, or where there is no room.
        max_deeper: Guesses taken up a turn one level deeper, from observations that are only guessed at themselves,
            once nothing else is left to do; 0: none.
        max_running: Speculative loads running at once at most; the environment's spare slots.
        min_plausibility: A guess less likely to come true than this is not worth a load.
        max_entries: Observations kept at most.
        max_bytes: Bytes they may occupy together.
        max_age_seconds: How long an observation is usable at most; browsers keep prefetched pages for 5 minutes.
        max_steps: Steps of the target that predictors are shown, the latest.
        close_seconds: How long closing waits for cancelled loads.
    """

    max_guesses: int = 3
    max_deeper: int = 2
    max_running: int = 4
    min_plausibility: float = 0.02
    max_entries: int = 256
    max_bytes: int = 64 * 1024 * 1024
    max_age_seconds: float = 300.0
    max_steps: int = 100
    close_seconds: float = 10.0
