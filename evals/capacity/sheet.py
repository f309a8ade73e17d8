"""The capacity sheet: questions an hour by what each resource bears alone.

Invariant: plain arithmetic on means, with no queue in it: what comes out is a ceiling, and the simulation says how much
of it is reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from evals.capacity.demand import Demand
from evals.capacity.supply import OPERATIONS_A_LOAD, Supply

SLOTS = "slots"
REQUESTS = "model requests"
TOKENS = "model tokens"
SITES = "sites"
PROCESSORS = "processors"
CACHE = "shared cache"
JOURNAL = "journal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One size of a cluster.

    Attributes:
        slots: Questions under way at once.
        workers: Processes.
        machines: Machines.
        memory_mib: What all browsers take.
        ceilings: Questions an hour, by the resource that bears no more, the lowest first.
    """

    slots: int
    workers: int
    machines: int
    memory_mib: float
    ceilings: Mapping[str, float]

    @property
    def bottleneck(self) -> str:
        """The resource that bears least."""
        return next(iter(self.ceilings))

    @property
    def questions_an_hour(self) -> float:
        """What it bears."""
        return self.ceilings[self.bottleneck]

    def as_json(self) -> dict[str, Any]:
        """Return it as `--json` prints it."""
        return {**asdict(self), "bottleneck": self.bottleneck, "questions_an_hour": self.questions_an_hour}


def row(demand: Demand, supply: Supply) -> Row:
    """Return what a cluster of one size bears."""
    machines = supply.machines_needed(supply.slots / demand.seconds * demand.loads * supply.load_cpu_seconds)
    unsorted = {name: 3600 * rate for name, rate in rates(demand, supply, machines=machines).items()}
    return Row(
        slots=supply.slots,
        workers=supply.workers,
        machines=machines,
        memory_mib=supply.memory_mib,
        ceilings=dict(sorted(unsorted.items(), key=lambda each: each[1])),
    )


def rates(demand: Demand, supply: Supply, *, machines: int) -> dict[str, float]:
    """Return how many questions a second each resource bears, those without a limit or a use left out."""
    found = {SLOTS: supply.slots / demand.seconds, JOURNAL: 1 / supply.journal_seconds}
    limits = (
        (REQUESTS, supply.requests_a_minute, 1 / 60, demand.model_requests),
        (TOKENS, supply.tokens_a_minute, 1 / 60, demand.model_tokens),
        (SITES, supply.host_rate, supply.hosts, demand.loads),
        (PROCESSORS, supply.machine.cpus, machines, demand.loads * supply.load_cpu_seconds),
        (CACHE, supply.cache_operations, 1.0, demand.loads * OPERATIONS_A_LOAD),
    )
    for name, limit, factor, used in limits:
        if limit is not None and used:
            found[name] = limit * factor / used
    return found
