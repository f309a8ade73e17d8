"""Under which conditions a suite was run: what every report says first.

Invariant: what is simulated is named here, and every report says so. Records of other conditions are never mixed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Under which conditions a suite was run.

    Attributes:
        suite: The suite's name.
        target: What decided, such as `gpt-5-mini`, `embedded` or `gold`.
        is_target_simulated: Whether it only follows the known way.
        draft: The draft model; empty: none.
        time_scale: What the published delays of pages were multiplied by; None: the delays are real.
        think_seconds: Mean simulated thinking a turn; 0: the target's own time.
        pace: Whose published thinking times were simulated; empty: none.
        error_rate: How often the simulated target takes a wrong link first.
        pool_size: Pages loaded ahead at once at most, or `auto`.
        max_guesses: Guesses taken up a turn at most.
        max_turns: Decisions at most.
        at_once: Questions under way at once, on each worker.
        engine: Where they were asked: `local`, in one process, or `ray`, on a cluster.
        workers: Processes of the cluster, as asked for; None: as many as suit it.
        seed: What questions and order were drawn from.
        judge: The model that judged answers; empty: none.
        search: The search engine; empty: none.
        settings: All else that was not as by default, by name; never a secret.
    """

    suite: str
    target: str
    is_target_simulated: bool = False
    draft: str = ""
    time_scale: float | None = None
    think_seconds: float = 0.0
    pace: str = ""
    error_rate: float = 0.0
    pool_size: int | str = 4
    max_guesses: int = 3
    max_turns: int = 10
    at_once: int = 1
    engine: str = "local"
    workers: int | None = None
    seed: int = 0
    judge: str = ""
    search: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return them as they stand in `conditions.json`."""
        return asdict(self)

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Self:
        """Build them from `conditions.json`.

        Raises:
            TypeError: They are none.
        """
        return cls(**raw)

    def caveats(self) -> tuple[str, ...]:
        """Say in plain words what is simulated; empty where nothing is."""
        told = []
        if self.time_scale is not None:
            told.append(
                f"Page delays are simulated: drawn from the percentiles published in arXiv 2510.16276, times"
                f" {self.time_scale:g}."
            )
        if self.think_seconds:
            scaled = "" if self.time_scale is None else f", times {self.time_scale:g}"
            whose = f", as published for {self.pace}{scaled}" if self.pace else ""
            told.append(
                f"Thinking times are simulated: a decision takes at least {self.think_seconds:g} s on average{whose}."
            )
        if self.is_target_simulated:
            told.append(
                "The target is simulated: it follows the known way"
                + (f" and takes a wrong link first in {self.error_rate:.0%} of turns" if self.error_rate else "")
                + ". Its answers say nothing about a model; its figures are those of the environment side."
            )
        return tuple(told)
