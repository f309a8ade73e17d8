"""How many pages may load ahead at once: the decision by tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from browser.slots.sizing import Figures, SizingLimits, recommended_slots

MEBIBYTE = 2**20
CALM = Figures(slots=4, wanted=4, page_bytes=40 * MEBIBYTE, memory_bytes=4096 * MEBIBYTE, cores=2)


@pytest.mark.parametrize(
    ("changed", "slots", "limit"),
    [
        ({}, 4, "demand"),
        ({"wanted": 6}, 6, "demand"),
        ({"wanted": 0}, 1, "demand"),
        ({"wanted": 6, "memory_bytes": None}, 6, "demand"),
        ({"wanted": 6, "memory_bytes": 200 * MEBIBYTE}, 5, "memory"),
        ({"memory_bytes": 39 * MEBIBYTE}, 1, "memory"),
        ({"memory_bytes": -1.0}, 1, "memory"),
        ({"page_bytes": 0.0}, 4, "demand"),
        ({"wanted": 9}, 8, "processor"),
        ({"wanted": 9, "cores": 0.5}, 2, "processor"),
        ({"wanted": 9, "slowdown": 1.19}, 9, "demand"),
        ({"wanted": 9, "slowdown": 1.2}, 3, "foreground"),
        ({"wanted": 99, "slowdown": 1.0}, 16, "processor"),
        ({"acceptance": 0.05}, 4, "demand"),
        ({"acceptance": 0.04}, 3, "demand"),
        ({"pressure": "cpu"}, 2, "pressure"),
        ({"pressure": "memory", "memory_bytes": 40 * MEBIBYTE}, 1, "memory"),
    ],
)
def test_the_tightest_limit_decides(changed: dict[str, float | str | None], slots: int, limit: str) -> None:
    advice = recommended_slots(replace(CALM, **changed))  # type: ignore[arg-type] # a table of fields
    assert (advice.slots, advice.limit) == (slots, limit)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"wanted": 6}, "6 pages"),
        ({"memory_bytes": 100 * MEBIBYTE}, "100 MiB are left for pages loaded ahead, and each takes 40 MiB"),
        ({"slowdown": 1.31}, "1.31 times as long beside 4 pages"),
        ({"pressure": "loop-lag"}, "loop-lag"),
        ({"acceptance": 0.03}, "only 3%"),
        ({"wanted": 20}, "each of 2 processors"),
    ],
)
def test_the_reason_names_the_figures(changed: dict[str, float | str | None], says: str) -> None:
    assert says in recommended_slots(replace(CALM, **changed)).reason  # type: ignore[arg-type] # a table of fields


def test_limits_are_parameters() -> None:
    assert recommended_slots(replace(CALM, wanted=9), SizingLimits(slots_per_core=1)).slots == 2
