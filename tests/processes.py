"""The browsers that this process has started, and what happens when they are killed."""

from __future__ import annotations

import psutil


def is_browser(process: psutil.Process) -> bool:
    """Whether a process is a Chromium's main one that still runs."""
    try:
        words = process.cmdline()
    except psutil.Error:
        return False
    return "--headless" in words and not any(word.startswith("--type=") for word in words)


def browsers(of: int | None = None) -> set[psutil.Process]:
    """The Chromium processes that a process (this one, unless another is named) has started."""
    return {child for child in psutil.Process(of).children(recursive=True) if is_browser(child)}


def kill_browsers(*, but: set[psutil.Process]) -> None:
    """Kill the browsers of this process, except those that other tests share, and wait until they are dead."""
    killed = list(browsers() - but)
    assert killed
    for process in killed:
        process.kill()
    psutil.wait_procs(killed, timeout=5)
