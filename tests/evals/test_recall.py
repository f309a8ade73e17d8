"""The free ranker does not get worse: recall on the bundled site, with floors just below what was measured there."""

from __future__ import annotations

import pytest

from evals.bench.recall import Ranking, bundled_cases, measure

FLOORS = {"rank": {1: 0.48, 3: 0.66, 5: 0.78}, "quick": {1: 0.46, 3: 0.56, 5: 0.58}}


@pytest.fixture(scope="module")
async def rankings() -> dict[str, Ranking]:
    return await measure(await bundled_cases())


@pytest.mark.parametrize("name", FLOORS)
async def test_recall_stays_above_its_floors(rankings: dict[str, Ranking], name: str) -> None:
    reached = {cut: rankings[name].recall(cut) for cut in FLOORS[name]}
    assert {cut: share for cut, share in reached.items() if share < FLOORS[name][cut]} == {}


async def test_the_ranker_beats_words_alone_and_both_beat_chance(rankings: dict[str, Ranking]) -> None:
    shares = {name: ranking.recall(3) for name, ranking in rankings.items()}
    assert shares["rank"] > shares["quick"] > 2 * max(shares["first"], shares["random"])


async def test_every_right_link_is_offered(rankings: dict[str, Ranking]) -> None:
    assert set(rankings["oracle"].places) == {1}
