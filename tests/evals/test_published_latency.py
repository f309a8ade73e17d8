"""The latency that the hedging benchmark draws is the published one."""

from __future__ import annotations

import pytest

from evals.bench.hedging import MAXIMUM_SECONDS, MEDIAN_SECONDS, MINIMUM_SECONDS, SAMPLES, published_seconds


def test_the_curve_passes_through_what_was_published() -> None:
    assert published_seconds(0.5) == pytest.approx(MEDIAN_SECONDS)
    assert published_seconds(1 - 1 / SAMPLES) == pytest.approx(MAXIMUM_SECONDS)
    assert published_seconds(0.9999) == MAXIMUM_SECONDS
    assert published_seconds(0) > MINIMUM_SECONDS


def test_the_arithmetic_of_hedging_promises_five_times_less() -> None:
    assert published_seconds(0.99) / (published_seconds(0.92) + published_seconds(0.875)) > 5
