"""When something that loads pages has served long enough: browsers keep something of every page they have shown.

Invariant: only what nobody holds is closed for it. What is due takes no new work, and ends with the work it has.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RecyclingLimits:
    """How long slots and browsers serve.

    Attributes:
        slot_loads: Pages loaded ahead in one slot.
        slot_seconds: How old a slot becomes in which pages are loaded ahead.
        browser_loads: Pages loaded in one browser (crawlee: 100).
        browser_seconds: How old a browser becomes.
        browser_mib: Memory of one browser, as PSS.
    """

    slot_loads: int = 50
    slot_seconds: float = 900.0
    browser_loads: int = 500
    browser_seconds: float = 3600.0
    browser_mib: int = 1536


@dataclass(slots=True, kw_only=True)
class Wear:
    """What something has served so far.

    Attributes:
        since_seconds: When it was made, by the pool's clock.
        loads: Pages loaded in it.
        size_bytes: Its memory, as PSS, when that was last measured.
    """

    since_seconds: float
    loads: int = 0
    size_bytes: int = 0

    def is_slot_due(self, limits: RecyclingLimits, *, now_seconds: float) -> bool:
        """Whether a slot that has served this much is to be closed."""
        return self.loads >= limits.slot_loads or now_seconds - self.since_seconds >= limits.slot_seconds

    def is_browser_due(self, limits: RecyclingLimits, *, now_seconds: float) -> bool:
        """Whether a browser that has served this much is to be closed."""
        return (
            self.loads >= limits.browser_loads
            or now_seconds - self.since_seconds >= limits.browser_seconds
            or self.size_bytes > limits.browser_mib * 2**20
        )
