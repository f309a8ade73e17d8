"""The processes that this one has started, as the operating system sees them: browsers, renderers, memory.

Invariant: nothing here asks the product what it believes to be running.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable

import psutil

_STEADY_SECONDS = 0.4
_LOOK_SECONDS = 0.1


def descendants() -> set[psutil.Process]:
    """Return every process below this one."""
    return set(psutil.Process().children(recursive=True))


def browsers() -> list[psutil.Process]:
    """Return the main processes of the Chromiums below this one, in a fixed order."""
    return sorted((process for process in descendants() if _is_browser(_words(process))), key=_age)


def renderers(of: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Return the processes of some Chromiums that hold pages, in a fixed order."""
    return sorted((process for process in families(of) if "--type=renderer" in _words(process)), key=_age)


def families(roots: Iterable[psutil.Process]) -> set[psutil.Process]:
    """Return processes with all below them."""
    found: set[psutil.Process] = set()
    for root in roots:
        try:
            found |= {root, *root.children(recursive=True)}
        except psutil.NoSuchProcess:
            continue
    return found


def memory_bytes(processes: Iterable[psutil.Process]) -> int:
    """Return what processes occupy together: their PSS, in which shared memory counts once; RSS where there is none."""
    return sum(map(_memory_bytes, processes))


def alive(processes: Iterable[psutil.Process], *, patience_seconds: float) -> list[psutil.Process]:
    """Return those that still run after a while; one that is dead and not yet collected does not run."""
    left = psutil.wait_procs(list(processes), timeout=patience_seconds)[1]
    return [process for process in left if _status(process) not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)]


async def steady(*, patience_seconds: float = 4.0) -> None:
    """Wait until no process comes or goes: renderers end a little after their pages."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + patience_seconds
    before, since = descendants(), loop.time()
    while loop.time() < deadline and loop.time() - since < _STEADY_SECONDS:
        await asyncio.sleep(_LOOK_SECONDS)
        now = descendants()
        if now != before:
            before, since = now, loop.time()


def _memory_bytes(process: psutil.Process) -> int:
    try:
        if sys.platform == "linux":
            return int(process.memory_full_info().pss)
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def _words(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def _is_browser(words: list[str]) -> bool:
    shown = any(word.startswith("--headless") for word in words)
    return shown and not any(word.startswith("--type=") for word in words)


def _age(process: psutil.Process) -> tuple[float, int]:
    try:
        return process.create_time(), process.pid
    except psutil.Error:
        return 0.0, process.pid


def _status(process: psutil.Process) -> str:
    try:
        return str(process.status())
    except psutil.Error:
        return str(psutil.STATUS_DEAD)
