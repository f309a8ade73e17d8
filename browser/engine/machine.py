"""What this machine, or the container it pretends to be, can carry.

Invariant: figures are what this process may use, not what the hardware has: a container's limits count.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from browser.engine.container import Container

# Measured with a headless shell: Python, Playwright's driver and the two browser processes before any page, and
# what one loaded page adds at most (PSS, not RSS, which counts shared pages once for each process).
BASE_BYTES = 400 * 2**20
PAGE_BYTES = 60 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What this process may use.

    Attributes:
        cores: Processors; a fraction where a container's quota is one.
        memory_bytes: Memory that is free now; None where the system does not tell.
        shared_memory_bytes: Size of `/dev/shm`; None where there is none.
    """

    cores: float
    memory_bytes: int | None
    shared_memory_bytes: int | None

    @property
    def pool_size(self) -> int:
        """How many pages can load side by side: one for each core, fewer where memory is short, at least two.

        Beyond one for each core, more pages at once only make each of them slower (measured on pages bound by the
        processor: 3.6 pages/s on two cores with 2, 4, 8 and 16 at once).
        """
        by_cores = round(self.cores)
        if self.memory_bytes is None:
            return max(2, by_cores)
        return max(2, min(by_cores, (self.memory_bytes - BASE_BYTES) // PAGE_BYTES))


def this_machine() -> Machine:
    """Measure now."""
    return Machine(cores=_cores(), memory_bytes=_free_memory(), shared_memory_bytes=_shared_memory())


def _cores() -> float:
    cores = float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    return min(cores, Container().cores() or cores)


def _free_memory() -> int | None:
    free = [figure for figure in (_free_in_system(), Container().free_bytes()) if figure is not None]
    return min(free, default=None)


def _free_in_system() -> int | None:
    try:
        words = Path("/proc/meminfo").read_text(encoding="utf-8").split()
    except OSError:
        return None
    if "MemAvailable:" in words:
        return int(words[words.index("MemAvailable:") + 1]) * 1024
    return None


def _shared_memory() -> int | None:
    folder = Path("/dev/shm")  # noqa: S108 - measured, never written to
    return shutil.disk_usage(folder).total if folder.is_dir() else None
