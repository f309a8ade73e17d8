"""The free ranker does not get worse: recall on the bundled site, with floors just below what was measured there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.bench.recall import Case, Ranking, bundled_cases, measure, quick_pass_seconds, read_cases, recall

FLOORS = {"rank": {1: 0.63, 3: 0.72, 5: 0.78}, "quick": {1: 0.52, 3: 0.61, 5: 0.62}}


@pytest.fixture(scope="module")
async def cases() -> list[Case]:
    return await bundled_cases()


@pytest.fixture(scope="module")
async def rankings(cases: list[Case]) -> dict[str, Ranking]:
    return await measure(cases)


@pytest.mark.parametrize("name", FLOORS)
async def test_recall_stays_above_its_floors(rankings: dict[str, Ranking], name: str) -> None:
    reached = {cut: rankings[name].recall(cut) for cut in FLOORS[name]}
    assert {cut: share for cut, share in reached.items() if share < FLOORS[name][cut]} == {}


async def test_the_ranker_beats_words_alone_and_both_beat_chance(rankings: dict[str, Ranking]) -> None:
    shares = {name: ranking.recall(3) for name, ranking in rankings.items()}
    assert shares["rank"] > shares["quick"] > 2 * max(shares["first"], shares["random"])


async def test_every_right_link_is_offered(rankings: dict[str, Ranking]) -> None:
    assert set(rankings["oracle"].places) == {1}


async def test_on_150_links_that_nothing_knows_yet_the_first_guess_is_the_quick_one(cases: list[Case]) -> None:
    assert await quick_pass_seconds(cases, 0) > 0


async def test_question_files_are_read_with_their_sites(tmp_path: Path) -> None:
    site = tmp_path / "depot"
    site.mkdir()
    (site / "index.html").write_text("<a href='/buses'>Buses</a> <a href='/trams'>Trams</a>")
    (site / "trams.html").write_text("<a href='/'>Home</a> <a href='/trams/oldest'>The oldest</a>")
    asked = {
        "id": "depot-1",
        "site": "depot",
        "question": "Which of the trams is the oldest?",
        "answer": "7",
        "answer_tokens": ["7"],
        "root_path": "/",
        "golden_path": ["/trams", "/trams/oldest"],
        "hops": 2,
    }
    file = tmp_path / "depot.jsonl"
    file.write_text(json.dumps(asked))

    first, second = await read_cases([file], tmp_path)
    assert [len(each.trajectory) for each in (first, second)] == [1, 2]
    assert second.gold == second.path[1]

    shown = (await recall([file], tmp_path)).as_json()
    assert (shown["name"], shown["n"], shown["ratio"]) == ("recall", 2, 1.0)
    assert shown["parts"]["rank"] == {"@1": 1, "@3": 1, "@5": 1}
