"""Whether this machine has room for work that nobody has asked for yet.

Invariant: what speculation itself uses of the processor does not count against it, since it runs only on what is left
over (`browser.engine.priority`); what everybody else uses does.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

import psutil

from browser.engine.priority import processes

_SMOOTHING = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class PressureLimits:
    """Beyond what nothing is loaded ahead.

    Attributes:
        loop_lag_seconds: How late the event loop may run its callbacks, on average (crawlee: 50 ms, once).
        cpu_share: Which share of all processors others may use.
        memory_share: Which share of the memory may be in use.
        sample_seconds: How often this is measured.
    """

    loop_lag_seconds: float = 0.1
    cpu_share: float = 0.95
    memory_share: float = 0.9
    sample_seconds: float = 0.5


class Pressure:
    """Samples the machine in the background.

    Args:
        limits: Beyond what there is no room.
        groups: Gives the process groups whose processor time does not count.

    Resource handling: owns its sampling task; `aclose()` ends it.
    """

    def __init__(
        self, limits: PressureLimits = PressureLimits(), *, groups: Callable[[], Collection[int]] = tuple
    ) -> None:
        self._limits = limits
        self._groups = groups
        self._sampling: asyncio.Task[None] | None = None
        self._used = _Used(at_seconds=time.monotonic(), others_seconds=0.0)
        self.loop_lag_seconds = 0.0
        self.cpu_share = 0.0
        self.memory_share = 0.0

    def start(self) -> None:
        """Begin to sample; may be called twice."""
        if self._sampling is None:
            self._sampling = asyncio.create_task(self._sample(), name="sample pressure")

    def reason(self) -> str | None:
        """Say what is too short for anything to be run ahead; None if nothing is."""
        if self.loop_lag_seconds > self._limits.loop_lag_seconds:
            return "loop-lag"
        if self.cpu_share > self._limits.cpu_share:
            return "cpu"
        return "memory" if self.memory_share > self._limits.memory_share else None

    async def _sample(self) -> None:
        loop = asyncio.get_running_loop()
        self._used = await asyncio.to_thread(_measure, self._groups())
        while True:
            due_seconds = loop.time() + self._limits.sample_seconds
            await asyncio.sleep(self._limits.sample_seconds)
            self._take(loop.time() - due_seconds, await asyncio.to_thread(_measure, self._groups()))

    def _take(self, lag_seconds: float, used: _Used) -> None:
        before, self._used = self._used, used
        passed_seconds = max(used.at_seconds - before.at_seconds, 1e-3)
        cores = psutil.cpu_count() or 1
        share = min(1.0, max(0.0, (used.others_seconds - before.others_seconds) / passed_seconds / cores))
        # One late callback or one busy moment says little; several in a row say more.
        self.loop_lag_seconds += _SMOOTHING * (lag_seconds - self.loop_lag_seconds)
        self.cpu_share += _SMOOTHING * (share - self.cpu_share)
        self.memory_share = used.memory_share

    async def aclose(self) -> None:
        """End the sampling; may be called twice."""
        if self._sampling is not None:
            self._sampling.cancel()
            await asyncio.wait([self._sampling])

    def __repr__(self) -> str:
        lag_milliseconds = self.loop_lag_seconds * 1000
        return f"<Pressure lag={lag_milliseconds:.0f}ms cpu={self.cpu_share:.0%} memory={self.memory_share:.0%}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Used:
    at_seconds: float
    others_seconds: float
    memory_share: float = 0.0


def _measure(groups: Collection[int]) -> _Used:
    times = psutil.cpu_times()
    busy_seconds = times.user + times.nice + times.system + times.irq + times.softirq
    own_seconds = sum(_cpu_seconds(process) for group in groups for process in processes(group))
    return _Used(
        at_seconds=time.monotonic(),
        others_seconds=busy_seconds - own_seconds,
        memory_share=psutil.virtual_memory().percent / 100,
    )


def _cpu_seconds(process: int) -> float:
    try:
        times = psutil.Process(process).cpu_times()
    except psutil.Error:  # it ended meanwhile
        return 0.0
    return float(times.user + times.system)
