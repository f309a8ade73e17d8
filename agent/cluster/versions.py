"""What must be alike on all machines, because objects pass between them as they are in memory.

Invariant: two processes that differ here never exchange a task.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.metadata import version


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """What a process runs.

    Attributes:
        python: Its Python, such as `3.11`.
        package: The version of this project.
    """

    python: str
    package: str

    def __str__(self) -> str:
        return f"Python {self.python} and speccache {self.package}"


def versions() -> Versions:
    """Return what this process runs."""
    major, minor, *_ = sys.version_info
    return Versions(python=f"{major}.{minor}", package=version("speccache"))
