"""How many pages fit."""

from __future__ import annotations

import pytest

from browser.engine.machine import BASE_BYTES, PAGE_BYTES, Machine, this_machine


@pytest.mark.parametrize(
    ("cores", "memory_bytes", "size"),
    [
        (8.0, None, 8),
        (8.0, 2**34, 8),
        (8.0, BASE_BYTES + 5 * PAGE_BYTES, 5),
        (8.0, 0, 2),
        (0.5, 2**34, 2),
    ],
)
def test_cores_and_memory_bound_the_pool(cores: float, memory_bytes: int | None, size: int) -> None:
    assert Machine(cores=cores, memory_bytes=memory_bytes, shared_memory_bytes=None).pool_size == size


def test_this_machine_is_one() -> None:
    here = this_machine()
    assert here.cores > 0
    assert here.memory_bytes is None or here.memory_bytes > 0
