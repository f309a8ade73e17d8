"""How much a value holds, roughly and without fail."""

from __future__ import annotations

import sys

import pytest

from speccache.text_size import text_size


@pytest.mark.parametrize(
    "value", ["x" * 10_000, ["x" * 10_000], {"a": ("x" * 10_000,)}, {"x" * 10_000: None}, {b"x" * 10_000}], ids=type
)
def test_texts_count_wherever_they_are(value: object) -> None:
    assert 10_000 < text_size(value) < 10_500


def test_what_cannot_be_looked_into_counts_a_little() -> None:
    assert 0 < text_size(object()) < 100


def test_it_ends() -> None:
    endless: list[object] = ["x"]
    endless.append(endless)
    assert text_size(endless) < 10_000 * sys.getsizeof("x") + 10_000 * 100


@pytest.mark.parametrize("rows", [[f"row {number:06}" for number in range(100_000)], dict.fromkeys(range(50_000), "x")])
def test_what_is_not_looked_at_counts_as_the_rest(rows: object) -> None:
    assert 5_000_000 < text_size(rows) < 10_000_000
