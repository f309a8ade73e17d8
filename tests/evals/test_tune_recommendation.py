"""The knee: the smallest setting close to the best that fits, with the reason for not taking a larger one."""

from __future__ import annotations

import pytest

from evals.tune.recommendation import Recommendation, recommend
from evals.tune.sample import LoadSample, QuestionSample
from evals.tune.summary import sizes_of, waits_of

MEBIBYTE = 2**20
IDLE, PAGE = 150 * MEBIBYTE, 50 * MEBIBYTE

Rates = dict[int, tuple[float, ...]]
"""Pages a second by pool size, a figure for each round."""
Waits = dict[tuple[int, int], tuple[float, ...]]
"""Seconds waited by pool size and guesses, a figure for each round."""

RISING: Rates = {1: (2.0, 2.1), 2: (4.0, 4.1), 4: (7.0, 7.1), 8: (9.0, 9.1)}
FLAT: Rates = {1: (2.0, 2.1), 2: (4.0, 4.1), 4: (4.0, 4.2), 8: (3.9, 4.0)}


def loads(rates: Rates, *, slowdowns: dict[int, float] | None = None, busy: tuple[int, ...] = ()) -> list[LoadSample]:
    return [
        LoadSample(
            round=number,
            slots=slots,
            pages_per_second=rate,
            load_seconds=(0.2, 0.3),
            alone_seconds=(1.0, 1.0),
            beside_seconds=((slowdowns or {}).get(slots, 1.0),) * 2,
            idle_bytes=IDLE,
            full_bytes=IDLE + slots * PAGE,
            lag_seconds=0.001,
            refusals={"host-busy": 9} if slots in busy else {},
        )
        for slots, figures in rates.items()
        for number, rate in enumerate(figures)
    ]


def questions(waits: Waits, *, wasted: int = 1) -> list[QuestionSample]:
    return [
        QuestionSample(
            round=number,
            slots=slots,
            guesses=guesses,
            question="q",
            exposed_seconds=seconds,
            total_seconds=9.0,
            pages=5,
            hits=1,
            joins=1,
            misses=1,
            speculated=100 if guesses else 0,
            wasted=wasted if guesses else 0,
        )
        for (slots, guesses), figures in waits.items()
        for number, seconds in enumerate(figures)
    ]


def found(
    rates: Rates,
    waits: Waits | None = None,
    *,
    memory_mib: int = 4096,
    slowdowns: dict[int, float] | None = None,
    busy: tuple[int, ...] = (),
    wasted: int = 1,
) -> Recommendation:
    recommendation = recommend(
        sizes_of(loads(rates, slowdowns=slowdowns, busy=busy)),
        waits_of(questions(waits or {}, wasted=wasted)),
        memory_bytes=memory_mib * MEBIBYTE,
        cores=2,
    )
    assert recommendation is not None
    return recommendation


def test_without_questions_pages_a_second_decide() -> None:
    knee = found(FLAT)
    assert (knee.pool_size, knee.max_guesses, knee.limit) == (2, None, "processor")
    assert "no more pages a second" in knee.reason


def test_the_largest_size_may_not_be_large_enough() -> None:
    knee = found(RISING)
    assert (knee.pool_size, knee.limit) == (8, "sweep")
    assert "--sizes" in knee.reason


def test_memory_holds_back() -> None:
    knee = found(RISING, memory_mib=400)
    assert (knee.pool_size, knee.limit) == (4, "memory")
    assert "8 slots (9.0 pages/s) would be better, but 250 MiB are left" in knee.reason


def test_even_the_smallest_may_be_too_much() -> None:
    knee = found(RISING, memory_mib=160)
    assert (knee.pool_size, knee.limit) == (1, "memory")
    assert knee.reason.startswith("Even 1 slot ")


@pytest.mark.parametrize(("slowdown", "size"), [(1.19, 8), (1.2, 4), (2.0, 4)])
def test_a_slower_foreground_holds_back(slowdown: float, size: int) -> None:
    knee = found(RISING, slowdowns={8: slowdown})
    assert knee.pool_size == size
    assert (knee.limit == "foreground") == (size == 4)


def test_a_limit_that_costs_nothing_is_not_the_reason() -> None:
    assert found(FLAT, slowdowns={8: 3.0}).limit == "processor"


def test_the_host_may_set_the_limit() -> None:
    knee = found({**RISING, 8: (7.1, 7.2)}, busy=(8,))
    assert (knee.pool_size, knee.limit) == (4, "politeness")


WAITS: Waits = {
    (1, 0): (9.0, 9.0, 9.0),
    (1, 1): (5.0, 5.0, 5.0),
    (1, 3): (4.0, 4.1, 4.0),
    (2, 1): (4.9, 5.0, 5.0),
    (2, 3): (3.1, 3.0, 3.0),
    (4, 1): (5.0, 5.0, 5.0),
    (4, 3): (3.0, 2.9, 2.9),
}
THREE: Rates = {1: (2.0,) * 3, 2: (4.0,) * 3, 4: (7.0,) * 3}


def test_with_questions_the_wait_decides() -> None:
    knee = found(THREE, WAITS)
    assert (knee.pool_size, knee.max_guesses, knee.limit) == (2, 3, "guesses")
    assert "4 slots and 3 guesses a turn (2.90 s of waiting a question)" in knee.reason


def test_speculation_off_is_never_recommended() -> None:
    knee = found(THREE, {(1, 0): (1.0,) * 3, (1, 1): (5.0,) * 3, (2, 1): (4.0,) * 3})
    assert (knee.pool_size, knee.max_guesses) == (2, 1)


def test_a_difference_that_rounds_disagree_about_is_noise() -> None:
    noisy = {(1, 1): (3.0, 5.0, 4.4), (2, 1): (4.0, 4.0, 4.0)}
    assert found(THREE, noisy).pool_size == 1
    sure = {(1, 1): (4.5, 4.4, 4.4), (2, 1): (4.0, 4.0, 4.0)}
    assert found(THREE, sure).pool_size == 2


def test_noise_excuses_only_so_much() -> None:
    wild = {(1, 1): (3.0, 9.0, 8.0), (2, 1): (4.0, 4.0, 4.0)}
    assert found(THREE, wild).pool_size == 2


def test_loads_that_nobody_uses_are_no_gain() -> None:
    knee = found(THREE, WAITS, wasted=99)
    assert (knee.pool_size, knee.limit) == (1, "guesses")
    assert "only 1% of the pages loaded ahead are used" in knee.reason


def test_too_little_gives_no_recommendation() -> None:
    assert recommend([], waits_of(questions(WAITS)), memory_bytes=2**30, cores=2) is None


def test_a_partial_sweep_recommends_among_what_was_measured() -> None:
    knee = found({2: (4.0,)}, WAITS)
    assert (knee.pool_size, knee.max_guesses) == (2, 3)
