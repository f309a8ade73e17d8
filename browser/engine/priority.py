"""Who gets the processor: speculation runs only on what nobody else wants.

Invariant: lowering a process group takes nothing from its work but time. On Linux it gets the idle scheduling class
and, since the kernel first shares the processor out between sessions ("autogroups"; Playwright starts each browser in
one of its own), the lowest weight among these. Elsewhere these calls do nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_LOWEST_NICE = 19
_PASSES = 3


def lower(group: int) -> None:
    """Let every thread of a process group run only while the processor has nothing else to do.

    What its processes start later inherits this.
    """
    if sys.platform == "linux":
        _weigh(group, _LOWEST_NICE)
        _schedule(group, os.SCHED_IDLE)


def restore(group: int) -> None:
    """Let a process group run as any other again.

    An ordinary user may not give weight back to a session: it then has the processor only while others are idle, as
    they are when somebody waits for it.
    """
    if sys.platform == "linux":
        _weigh(group, 0)
        _schedule(group, os.SCHED_OTHER)


def _weigh(group: int, nice: int) -> None:
    with suppress(OSError):  # not allowed, or a kernel without autogroups
        Path(f"/proc/{group}/autogroup").write_text(str(nice), encoding="ascii")


def _schedule(group: int, policy: int) -> None:
    # A process that is started during one pass is found by the next.
    for _ in range(_PASSES):
        others = [thread for thread in _threads(group) if _policy(thread) not in (policy, None)]
        if not others:
            return
        for thread in others:
            with suppress(OSError):  # not allowed, or it ended meanwhile
                os.sched_setscheduler(thread, policy, os.sched_param(0))


def _policy(thread: int) -> int | None:
    with suppress(OSError):
        return os.sched_getscheduler(thread)
    return None


def processes(group: int) -> Iterator[int]:
    """Yield the processes of a group; none where the system does not list them."""
    if sys.platform != "linux":
        return
    for process in _numbers(Path("/proc")):
        with suppress(OSError):  # it ended meanwhile
            if os.getpgid(process) == group:
                yield process


def _threads(group: int) -> Iterator[int]:
    for process in processes(group):
        with suppress(OSError):
            yield from _numbers(Path(f"/proc/{process}/task"))


def _numbers(folder: Path) -> Iterator[int]:
    for entry in folder.iterdir():
        if entry.name.isdigit():
            yield int(entry.name)
