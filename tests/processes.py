"""The browsers that this process has started, and what happens when they are killed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

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


def browsers_of_file(mark: str) -> Sequence[psutil.Process]:
    """The Chromium processes that were started for a test file, also those whose parents are dead by now.

    Programs hand their environment on, and in it the mark of the file as `TEST_FILE`.
    """
    return [
        process for process in psutil.process_iter() if is_browser(process) and _variable(process, "TEST_FILE") == mark
    ]


def started_by(process: psutil.Process) -> str:
    """The test that has started a process, as pytest names it."""
    return _variable(process, "PYTEST_CURRENT_TEST")


def _variable(process: psutil.Process, name: str) -> str:
    with suppress(psutil.Error):
        return process.environ().get(name, "")
    return ""


def kill_browsers(*, but: set[psutil.Process]) -> None:
    """Kill the browsers of this process, except those that other tests share, and wait until they are dead."""
    killed = list(browsers() - but)
    assert killed
    for process in killed:
        process.kill()
    psutil.wait_procs(killed, timeout=5)
