"""What there is for questions to be answered with: slots on machines, and what all of them share.

Invariant: every figure that was measured says where and how; all others are the user's to give, and None is no limit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil

PAGE_MIB = 31.0
"""PSS of a page that is open, loaded and of medium size; `python -m evals.bench navigate` measures it."""
WORKER_MIB = 430.0
"""PSS of a worker's browser, driver and first page."""
LOAD_CPU_SECONDS = 0.10
"""Processor time of one page from its address to its text, all processes together: mean of 35 pages of the bundled
site on a processor of 2 cores that others used as well. Heavy sites take several times as much."""
CACHE_OPERATIONS = 23_000.0
"""Operations a second of a Redis on that machine, values of 8 kB (`redis-benchmark -t get -d 8000`)."""
OPERATIONS_A_LOAD = 3.0
"""A page is looked for, leased and stored."""
JOURNAL_SECONDS = 0.00074
"""A record written and on the disk: mean of 200 lines of 3 kB, each with fsync."""
_USABLE = 0.8
"""The part of a machine that is planned for; the rest is for peaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """One machine of the cluster.

    Attributes:
        cpus: Its processors.
        memory_mib: Its memory.
    """

    cpus: float = 8.0
    memory_mib: float = 32 * 1024.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """A cluster, and what its questions share.

    Attributes:
        slots: Questions under way at once, over all machines.
        slots_a_worker: Those of one worker, which have one pool of browsers.
        ahead: Pages that a worker loads ahead at once.
        machine: What each machine has.
        machines: How many there are; None: as many as the slots need.
        requests_a_minute: What the model's provider allows.
        tokens_a_minute: The same in tokens.
        hosts: Over how many hosts the questions spread.
        host_rate: Loads that may begin at one host in a second.
        load_cpu_seconds: Processor time of one page.
        cache_operations: What the shared cache does in a second; None: there is none.
        journal_seconds: How long the driver takes to keep a record.
    """

    slots: int
    slots_a_worker: int = 8
    ahead: int = 4
    machine: Machine = field(default_factory=Machine)
    machines: int | None = None
    requests_a_minute: float | None = None
    tokens_a_minute: float | None = None
    hosts: int = 1
    host_rate: float | None = None
    load_cpu_seconds: float = LOAD_CPU_SECONDS
    cache_operations: float | None = CACHE_OPERATIONS
    journal_seconds: float = JOURNAL_SECONDS

    @property
    def workers(self) -> int:
        """Processes with a pool each."""
        return ceil(self.slots / self.slots_a_worker)

    @property
    def memory_mib(self) -> float:
        """What all browsers take: those of each worker, and a page for each slot and each load ahead."""
        return self.workers * (WORKER_MIB + self.ahead * PAGE_MIB) + self.slots * PAGE_MIB

    def machines_needed(self, busy_cpus: float) -> int:
        """Return how many machines there are, or how many memory and so many busy processors ask for."""
        if self.machines is not None:
            return self.machines
        by_memory = self.memory_mib / (self.machine.memory_mib * _USABLE)
        by_cpus = busy_cpus / (self.machine.cpus * _USABLE)
        return max(1, ceil(by_memory), ceil(by_cpus))
