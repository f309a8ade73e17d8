from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.site import LatencyModel
from evals.site.latency import ROOT_PERCENTILES, SUBPAGE_PERCENTILES

DRAWS = 20_000


def share_within(seconds: list[float], limit: float) -> float:
    return sum(second <= limit for second in seconds) / len(seconds)


def test_sub_pages_take_what_was_published() -> None:
    latency = LatencyModel(time_scale=1)
    seconds = [latency.page_seconds(f"/en/page-{number}") for number in range(DRAWS)]
    for share, limit in SUBPAGE_PERCENTILES:
        assert share_within(seconds, limit) == pytest.approx(share, abs=0.015)


def test_root_pages_take_what_was_published() -> None:
    seconds = [LatencyModel(time_scale=1, seed=seed).page_seconds("/en") for seed in range(DRAWS)]
    for share, limit in ROOT_PERCENTILES:
        assert share_within(seconds, limit) == pytest.approx(share, abs=0.015)


def test_the_default_median_is_two_thirds_of_a_second() -> None:
    latency = LatencyModel()
    seconds = sorted(latency.page_seconds(f"/en/page-{number}") for number in range(DRAWS))
    assert seconds[DRAWS // 2] == pytest.approx(0.65, abs=0.02)


@given(path=st.text(max_size=40).filter(lambda text: "#" not in text), seed=st.integers(0, 99))
def test_document_and_data_sum_up_to_the_page(path: str, seed: int) -> None:
    latency = LatencyModel(seed=seed)
    parts = latency.document_seconds(path) + latency.data_seconds(path)
    assert parts == pytest.approx(latency.page_seconds(path))
    assert parts == LatencyModel(seed=seed).document_seconds(path) + latency.data_seconds(path)


def test_hash_routes_share_their_document() -> None:
    latency = LatencyModel()
    one, other = "/en/handbook#/chapter/travel", "/en/handbook#/chapter/safety"
    assert latency.document_seconds(one) == latency.document_seconds(other) == latency.document_seconds("/en/handbook")
    assert latency.data_seconds(one) != latency.data_seconds(other)


def test_scale_zero_answers_at_once() -> None:
    assert LatencyModel(time_scale=0).page_seconds("/en") == 0


@pytest.mark.parametrize("scale", [-1, float("nan"), float("inf")])
def test_a_scale_that_makes_no_sense_is_refused(scale: float) -> None:
    with pytest.raises(ValueError, match="time_scale"):
        LatencyModel(time_scale=scale)
