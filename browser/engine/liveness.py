"""Whether a process still runs.

Invariant: one that has ended but was not yet reaped by its parent does not.
"""

from __future__ import annotations

from contextlib import suppress

import psutil


def runs(process: psutil.Process) -> bool:
    """Tell whether this very process runs; another one that got its number later is not it."""
    with suppress(psutil.Error):
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    return False
