"""When slots and browsers have served long enough."""

from __future__ import annotations

import pytest

from browser.engine.recycling import RecyclingLimits, Wear

LIMITS = RecyclingLimits(slot_loads=3, slot_seconds=60.0, browser_loads=5, browser_seconds=90.0, browser_mib=10)


@pytest.mark.parametrize(
    ("wear", "slot_due", "browser_due"),
    [
        (Wear(since_seconds=1000.0), False, False),
        (Wear(since_seconds=1000.0, loads=2), False, False),
        (Wear(since_seconds=1000.0, loads=3), True, False),
        (Wear(since_seconds=1000.0, loads=5), True, True),
        (Wear(since_seconds=941.0), False, False),
        (Wear(since_seconds=940.0), True, False),
        (Wear(since_seconds=910.0), True, True),
        (Wear(since_seconds=1000.0, size_bytes=10 * 2**20), False, False),
        (Wear(since_seconds=1000.0, size_bytes=10 * 2**20 + 1), False, True),
    ],
)
def test_served_long_enough(wear: Wear, slot_due: bool, browser_due: bool) -> None:
    assert wear.is_slot_due(LIMITS, now_seconds=1000.0) is slot_due
    assert wear.is_browser_due(LIMITS, now_seconds=1000.0) is browser_due
