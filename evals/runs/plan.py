"""What a run of a suite asks, and how: checked before anything is started.

Invariant: a plan says all that decides what is measured; its conditions name all of it that a report must tell.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from agent.cluster.cluster import Cluster
from agent.settings import Settings
from evals.runs.conditions import Conditions
from evals.runs.mode import Mode
from evals.suites.item import Item
from evals.suites.suite import Suite

GOLD = "gold"
"""The target that is simulated: it follows the known way."""

_TOLD_BY_NAME = ("target", "draft", "max_guesses", "max_turns", "pool_size", "search", "think", "questions_at_once")
_NO_CONDITION = (
    *("browser", "egress_host", "predictor", "speculation", "max_memory"),
    *("otel", "log_format", "log_level"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long a target thinks that would decide at once.

    Attributes:
        think_seconds: On average, a turn; 0: no longer than it takes.
        model: Whose published times single turns are spread as; empty: the first of them.
    """

    think_seconds: float = 0.0
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run of a suite asks, and how.

    Attributes:
        suite: The suite.
        items: Those of its questions that are asked.
        modes: In which modes each is asked.
        settings: How; what a mode decides is left as it is.
        is_gold: Whether the simulated target decides, in place of the settings'.
        error_rate: How often that target takes a wrong link first, 0 to 1.
        pace: How long a target thinks that would decide at once.
        time_scale: What the published delays are multiplied by; None: the delays are real.
        seed: What the order of the modes is drawn from.
        judge: The model that judges answers; None: none.
        item_seconds: How long one question may take in one mode.
        has_traces: Whether a trace of each run is kept.
        reopen: Opens the suite once more, in another process; None: it has no sites of its own.
        cluster: Where questions are asked; None: in this process.
        only: The questions and modes that are asked, by id and name; None: all of them.
    """

    suite: Suite
    items: tuple[Item, ...]
    modes: tuple[Mode, ...]
    settings: Settings
    is_gold: bool = False
    error_rate: float = 0.0
    pace: Pace = Pace()
    time_scale: float | None = None
    seed: int = 0
    judge: str | None = None
    item_seconds: float = 900.0
    has_traces: bool = False
    reopen: Callable[[], Suite] | None = None
    cluster: Cluster | None = None
    only: frozenset[tuple[str, str]] | None = None

    def order(self, item: Item) -> Sequence[Mode]:
        """Return the modes in the order in which a question is asked in them: shuffled, so that none gains by it.

        The oracle comes anywhere but first: it must know the way, which is the same in all modes.
        """
        modes: list[Mode] = [mode for mode in self.modes if mode is not Mode.ORACLE]
        random = Random(f"{self.seed} {item.id}")  # noqa: S311 - an order, no secret
        random.shuffle(modes)
        if Mode.ORACLE in self.modes:
            modes.insert(random.randint(1, len(modes)), Mode.ORACLE)
        return [mode for mode in modes if self.only is None or (item.id, str(mode)) in self.only]

    @property
    def conditions(self) -> Conditions:
        """What reports say of the plan."""
        settings = self.settings
        return Conditions(
            suite=self.suite.name,
            target=GOLD if self.is_gold else settings.target_name,
            is_target_simulated=self.is_gold,
            draft=settings.draft_name or "",
            time_scale=self.time_scale,
            think_seconds=round(self.pace.think_seconds, 6),
            pace=self.pace.model,
            error_rate=self.error_rate if self.is_gold else 0.0,
            pool_size=settings.pool_size,
            max_guesses=settings.max_guesses,
            max_turns=settings.max_turns,
            at_once=settings.questions_at_once,
            engine="local" if self.cluster is None else "ray",
            workers=self.cluster.workers if self.cluster is not None else None,
            seed=self.seed,
            judge=self.judge or "",
            search=settings.search or self.suite.search,
            settings=_others(settings),
        )


def _others(settings: Settings) -> dict[str, Any]:
    """Return what else was set, as JSON; secrets are starred out by their type."""
    given = json.loads(settings.model_dump_json(exclude_defaults=True))
    return {name: value for name, value in given.items() if name not in (*_TOLD_BY_NAME, *_NO_CONDITION)}
