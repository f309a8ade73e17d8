"""What a check of this machine found.

Invariant: what is not well is said with what to do about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What one check found.

    Attributes:
        name: What was checked, in a word or two.
        status: `ok`; `warn` where the main job runs all the same; `fail` where it does not.
        detail: What was found.
        hint: What to do about it; empty where nothing needs doing.
    """

    name: str
    status: Literal["ok", "warn", "fail"]
    detail: str
    hint: str = ""


def size_text(size_bytes: int) -> str:
    """Write a number of bytes for a person."""
    return f"{size_bytes / 2**30:.1f} GiB" if size_bytes >= 2**30 else f"{size_bytes / 2**20:.0f} MiB"
