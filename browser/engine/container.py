"""The limits of the container that this process runs in, if it runs in one, as the kernel's control groups tell them.

Invariant: what is free counts in file pages that nobody has used lately, since the kernel gives those away first.
Sources: the kernel's documentation of cgroup v2, and of v1's `memory` and `cpu` controllers, which older hosts have.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """Where the control group's files are; a container sees its own group as the root.

    Attributes:
        root: The folder.
    """

    root: Path = ROOT

    def cores(self) -> float | None:
        """Return the quota of processors; None where there is none."""
        match _words(self.root / "cpu.max") or self._first_version_quota():
            case [quota, period] if quota not in ("max", "-1"):
                return int(quota) / int(period)
            case _:
                return None

    def free_bytes(self) -> int | None:
        """Return how much memory may still be taken; None where nothing limits it."""
        if (self.root / "memory").is_dir():
            return _free(self.root / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        return _free(self.root, "memory.max", "memory.current", "inactive_file")

    def _first_version_quota(self) -> list[str]:
        folder = self.root / "cpu"
        return [*_words(folder / "cpu.cfs_quota_us"), *_words(folder / "cpu.cfs_period_us")]


def _free(folder: Path, limit: str, used: str, idle: str) -> int | None:
    most, now = _words(folder / limit), _words(folder / used)
    if not most or not now or most == ["max"]:
        return None
    figures = _words(folder / "memory.stat")
    spare = int(figures[figures.index(idle) + 1]) if idle in figures else 0
    return max(0, int(most[0]) - int(now[0]) + spare)


def _words(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").split()
    except OSError:
        return []
