"""Visits every setting once a round, in an order drawn anew for each round.

Invariant: within a round every setting is measured under the same conditions, so that a slow moment of the machine or
of the site meets all alike; what has been measured stays when the sweep is interrupted.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean

from agent.errors import ConfigurationError
from agent.predictors.embedding import Embedder
from agent.settings import EMBEDDED, PredictorName, Settings
from evals.tune.load_measurement import measure_loads
from evals.tune.question_measurement import measure_question
from evals.tune.sample import LoadSample, QuestionSample, Sample
from evals.tune.subject import Pace, Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is measured.

    Attributes:
        sizes: Pool sizes, rising.
        guesses: Guesses a turn, rising.
        rounds: How often each setting is visited.
        pace: How long each visit takes.
        seed: Draws the order.
    """

    sizes: tuple[int, ...]
    guesses: tuple[int, ...]
    rounds: int
    pace: Pace
    seed: int = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """One measurement to make.

    Attributes:
        round: The round it belongs to.
        slots: The pool's size.
        guesses: Guesses a turn, 0 with speculation off; None: no question is asked, the pool is kept full.
    """

    round: int
    slots: int
    guesses: int | None = None

    def __str__(self) -> str:
        if self.guesses == 0:
            return "a question without speculation"
        doing = "kept full" if self.guesses is None else f"and {self.guesses} guesses a turn"
        return f"{self.slots} slots {doing}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far a sweep is.

    Attributes:
        done: Measurements made.
        total: Measurements planned.
        next: What is being measured; None at the end.
        left_seconds: How long the rest takes, as far as can be said; None before anything was measured.
    """

    done: int
    total: int
    next: Stop | None
    left_seconds: float | None


def stops_of(plan: Plan, *, asks: bool) -> list[Stop]:
    """Lay out all stops in their order.

    Args:
        plan: What is measured.
        asks: Whether there are questions.
    """
    order = random.Random(plan.seed)  # noqa: S311 - repeatable, no secret
    stops = []
    for number in range(plan.rounds):
        one_round = [Stop(round=number, slots=size) for size in plan.sizes]
        if asks:
            one_round.append(Stop(round=number, slots=plan.sizes[0], guesses=0))
            one_round += [
                Stop(round=number, slots=size, guesses=guesses) for size in plan.sizes for guesses in plan.guesses
            ]
        order.shuffle(one_round)
        stops += one_round
    return stops


def settings_for(plan: Plan, settings: Settings) -> Settings:
    """Return a person's settings without what a sweep decides, pays for, or would change."""
    deciding = {"target": EMBEDDED, "draft": "none", "schema_file": None, "max_turns": plan.pace.turns}
    guessing = {"predictor": PredictorName.DEFAULT}
    # With pages that are kept, only the first run is a cold one.
    keeping = {"shelf": None, "shared_cache": None, "profile": None, "save_storage_state": None}
    return settings.model_copy(update=deciding | guessing | keeping)


class Sweep:
    """A sweep and what it has measured so far.

    Args:
        plan: What is measured.
        settings: Everything that is not swept; see `settings_for`.
        listener: Told before each measurement and at the end.
    """

    def __init__(
        self, plan: Plan, settings: Settings, *, listener: Callable[[Standing], None] = lambda _: None
    ) -> None:
        self.plan = plan
        self._settings = settings
        self._listener = listener
        self._embedder = Embedder()
        self._seconds: defaultdict[bool, list[float]] = defaultdict(list)
        self.samples: list[Sample] = []

    async def run(self, subject: Subject) -> None:
        """Measure everything; the samples are there at any time.

        Raises:
            ConfigurationError: Nothing can be measured on these pages.
            AgentError: The embedded target does not work.
            BrowserError: The browser does not work.
        """
        if subject.tasks:
            await self._embedder.embed(["warm"])  # loading the ranker's model is no part of any run
        stops = stops_of(self.plan, asks=bool(subject.tasks))
        settings = self._settings.model_copy(update={"think": subject.think_seconds})
        for done, stop in enumerate(stops):
            left_seconds = self._estimate(stops[done:])
            self._listener(Standing(done=done, total=len(stops), next=stop, left_seconds=left_seconds))
            began_seconds = time.monotonic()
            self.samples.append(await self._measure(stop, subject, settings))
            self._seconds[stop.guesses is None].append(time.monotonic() - began_seconds)
            self._give_up_on(subject)
        self._listener(Standing(done=len(stops), total=len(stops), next=None, left_seconds=0.0))

    async def _measure(self, stop: Stop, subject: Subject, settings: Settings) -> Sample:
        if stop.guesses is None:
            return await measure_loads(
                stop.slots, round_number=stop.round, subject=subject, settings=settings, pace=self.plan.pace
            )
        return await measure_question(
            stop.slots,
            stop.guesses,
            round_number=stop.round,
            task=subject.tasks[stop.round % len(subject.tasks)],
            settings=settings,
            embedder=self._embedder,
        )

    def _give_up_on(self, subject: Subject) -> None:
        """End a sweep in which no size has loaded anything ahead, rather than after many more minutes."""
        loads = self.loads
        if len(loads) == len(self.plan.sizes) and not any(sample.load_seconds for sample in loads):
            reasons = ", ".join(sorted({reason for sample in loads for reason in sample.refusals}))
            raise ConfigurationError(
                f"no page of {subject.name} could be loaded ahead: {reasons or 'they are too slow'}",
                hint="Give other pages with --url: what robots.txt forbids, sets cookies or fails is not loaded ahead.",
            )

    def _estimate(self, stops: Sequence[Stop]) -> float | None:
        """Say how long these take, from how long their like took."""
        if not self._seconds:
            return None
        known = {fills: mean(seconds) for fills, seconds in self._seconds.items()}
        return sum(known.get(stop.guesses is None, max(known.values())) for stop in stops)

    @property
    def loads(self) -> list[LoadSample]:
        """The samples of full pools."""
        return [sample for sample in self.samples if isinstance(sample, LoadSample)]

    @property
    def questions(self) -> list[QuestionSample]:
        """The samples of questions."""
        return [sample for sample in self.samples if isinstance(sample, QuestionSample)]
