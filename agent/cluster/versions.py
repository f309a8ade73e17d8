"""What must be alike on all machines, because objects pass between them as they are in memory.

Invariant: two processes that agree here have the same Python (but for its patch level) and run the same code.
"""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

_PACKAGES = ("agent", "browser", "evals", "speccache")


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """What a process runs.

    Attributes:
        python: Its Python, such as `3.11`.
        package: The version of this project.
        code: A digest of the project's modules: two checkouts have the same version for long.
    """

    python: str
    package: str
    code: str

    def __str__(self) -> str:
        return f"Python {self.python}, speccache {self.package} (code {self.code})"


@cache
def versions() -> Versions:
    """Return what this process runs."""
    major, minor, *_ = sys.version_info
    return Versions(python=f"{major}.{minor}", package=version("speccache"), code=_digest())


def _digest() -> str:
    digest = hashlib.sha256()
    for package in _PACKAGES:
        spec = find_spec(package)
        for place in (spec and spec.submodule_search_locations) or ():
            for module in sorted(Path(place).rglob("*.py")):
                digest.update(module.relative_to(place).as_posix().encode() + b"\0" + module.read_bytes())
    return digest.hexdigest()[:12]
