"""A cluster simulated event by event, up to many thousand slots: what holds questions up, and what would next.

Each slot asks one question after the other. A turn asks the model; while it thinks pages load ahead, and then it waits
for them. What is shared serves first come, first served, so that it needs no queue: it knows when it will be free.
Invariant: the same seed gives the same result; all times are simulated.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import count
from random import Random
from typing import Any

from evals.capacity.demand import Demand
from evals.capacity.sheet import CACHE, JOURNAL, PROCESSORS, REQUESTS, SITES, SLOTS, TOKENS, rates, row
from evals.capacity.supply import Supply

SATURATED = 0.95
"""From which part of what it bears a resource counts as the one that holds questions up."""
_MODEL = (REQUESTS, TOKENS)
_PAGES = (SITES, CACHE, PROCESSORS)
_WARM_QUESTIONS = 2.0
_COUNTED_QUESTIONS = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """What came of a simulation.

    Attributes:
        slots: Questions under way at once.
        questions_an_hour: What was answered.
        question_seconds: From question to answer, with all waiting.
        use: By resource, what was used of what it bears, 0 to 1.
        waited_seconds: By resource, how long a question waited for it.
    """

    slots: int
    questions_an_hour: float
    question_seconds: float
    use: Mapping[str, float]
    waited_seconds: Mapping[str, float]

    @property
    def bottleneck(self) -> str:
        """The resource that is used most, where it holds questions up; else the slots themselves."""
        most = max(self.use, key=lambda name: self.use[name], default=SLOTS)
        return most if self.use.get(most, 0.0) >= SATURATED else SLOTS

    def as_json(self) -> dict[str, Any]:
        """Return it as `--json` prints it."""
        return {**asdict(self), "bottleneck": self.bottleneck}


def simulate(demand: Demand, supply: Supply, *, without: Collection[str] = (), seed: int = 0) -> Simulated:
    """Simulate a cluster for as long as a few questions take.

    Args:
        demand: What a question takes.
        supply: What there is.
        without: Resources that hold nobody up, as if they were endless.
        seed: What the spread of times is drawn from.
    """
    machines = row(demand, supply).machines
    bears = {name: rate for name, rate in rates(demand, supply, machines=machines).items() if name not in without}
    del bears[SLOTS]
    return _Simulation(demand, supply.slots, bears, seed=seed).run()


def bottlenecks(demand: Demand, supply: Supply, *, seed: int = 0) -> tuple[Simulated, ...]:
    """Simulate a cluster, then without what held it up, and so on until only its slots do."""
    found: list[Simulated] = []
    widened: list[str] = []
    while not found or found[-1].bottleneck != SLOTS:
        widened += [found[-1].bottleneck] if found else []
        found.append(simulate(demand, supply, without=widened, seed=seed))
    return tuple(found)


class _Simulation:
    """Slots, and what they share.

    Args:
        demand: What a question takes.
        slots: How many there are.
        bears: Questions a second, by shared resource.
        seed: What the spread of times is drawn from.
    """

    def __init__(self, demand: Demand, slots: int, bears: Mapping[str, float], *, seed: int) -> None:
        self._demand = demand
        self._slots = slots
        self._bears = bears
        self._random = Random(seed)  # noqa: S311 - times, no secret
        self._turns = max(1, round(demand.turns))
        self._free = dict.fromkeys(bears, 0.0)
        self._waited = dict.fromkeys(bears, 0.0)
        self._done_turns = 0

    def run(self) -> Simulated:
        """Run it, its beginning uncounted."""
        warm_seconds = _WARM_QUESTIONS * self._demand.seconds
        end_seconds = warm_seconds + _COUNTED_QUESTIONS * self._demand.seconds
        order = count()  # slots whose times are equal are not compared themselves
        begins = [self._random.uniform(0, self._demand.seconds) for _ in range(self._slots)]
        due = [(begin, next(order), self._slot(begin)) for begin in begins]
        heapq.heapify(due)
        is_warm = False
        while due[0][0] < end_seconds:
            now, _, slot = due[0]
            if not is_warm and now >= warm_seconds:
                is_warm, self._done_turns, self._waited = True, 0, dict.fromkeys(self._waited, 0.0)
            heapq.heapreplace(due, (next(slot), next(order), slot))
        return self._result(end_seconds - warm_seconds)

    def _result(self, seconds: float) -> Simulated:
        # Turns are counted, not questions: where there is a long queue, few questions end while one looks on.
        questions = max(self._done_turns, 1) / self._turns
        rate = questions / seconds
        return Simulated(
            slots=self._slots,
            questions_an_hour=3600 * rate,
            question_seconds=self._slots / rate,
            use={name: min(1.0, rate / bears) for name, bears in self._bears.items()},
            waited_seconds={name: waited / questions for name, waited in self._waited.items()},
        )

    def _slot(self, now: float) -> Iterator[float]:
        """Ask one question after the other; yields when it goes on, and is resumed then."""
        demand, share = self._demand, 1 / self._turns
        rest_seconds = max(0.0, demand.seconds - demand.llm_seconds - demand.exposed_seconds)
        while True:
            for _ in range(self._turns):
                now = self._wait(self._ordered(_MODEL, now, share), now)
                yield now
                pages = self._ordered(_PAGES, now, share)
                now = self._wait(pages, now + self._spread(demand.llm_seconds * share))
                now += self._spread(demand.exposed_seconds * share)
                yield now
                self._done_turns += 1
            now += rest_seconds
            yield now
            now = self._wait(self._ordered((JOURNAL,), now, 1.0), now)
            yield now

    def _ordered(self, names: Collection[str], now: float, questions: float) -> dict[str, float]:
        """Order what so much of a question takes of some resources; return when each has done it."""
        done = {}
        for name in names:
            if name in self._bears:
                done[name] = self._free[name] = max(now, self._free[name]) + questions / self._bears[name]
        return done

    def _wait(self, done: Mapping[str, float], now: float) -> float:
        for name, at in done.items():
            self._waited[name] += max(0.0, at - now)
        return max([now, *done.values()])

    def _spread(self, mean_seconds: float) -> float:
        return self._random.expovariate(1 / mean_seconds) if mean_seconds else 0.0
