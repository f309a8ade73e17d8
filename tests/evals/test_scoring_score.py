"""What a run's answer is worth: by its words, by a judge where these do not settle it, and by the pages read."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent.outcome import Outcome
from agent.support import Support
from evals.runs import Scores
from evals.scoring import Judge, VerdictCache, score
from evals.suites import Item
from tests.agent.pages import SITE, page, walk
from tests.endpoints.connected import Wire, wire
from tests.endpoints.scripted import Say


@pytest_asyncio.fixture(scope="module")
async def line() -> AsyncIterator[Wire]:
    async with wire() as opened:
        yield opened


def item(**fields: object) -> Item:
    return Item(**{"id": "1", "question": "How many columns?", "answer": "1,600", **fields})  # type: ignore[arg-type]


def answered(text: str, *paths: str, **fields: object) -> Outcome:
    return Outcome(status="answered", answer=text, trajectory=walk(*map(page, paths)), **fields)  # type: ignore[arg-type]


async def test_words_alone() -> None:
    support = Support(url=SITE + "/limits", passage="1600 columns")
    scores = await score(item(), answered("At most 1600 columns.", support=support), base=SITE, judge=None)
    assert scores == Scores(contains=True, f1=pytest.approx(0.4), supported=True)
    assert scores.correct
    empty = await score(item(), Outcome(status="gave_up"), base=SITE, judge=None)
    assert (empty, empty.correct) == (Scores(), False)


async def test_the_judge_says_what_words_do_not_settle(line: Wire, tmp_path: Path) -> None:
    judge = Judge(
        line.play([Say('{"reason": "denied", "correct": false}')]), VerdictCache(tmp_path / "verdicts.sqlite")
    )
    denied = await score(item(), answered("It is not 1600."), base=SITE, judge=judge)
    assert (denied.contains, denied.judged, denied.correct) == (True, False, False)
    same = await score(item(), answered("1600."), base=SITE, judge=judge)
    assert (same.exact, same.judged, same.correct) == (True, None, True)
    empty = await score(item(), Outcome(status="limit"), base=SITE, judge=judge)
    assert (empty.judged, empty.correct) == (False, False)
    assert len(line.requests) == 1
    unusable = await score(item(), answered("About 1600, I think."), base=SITE, judge=judge)
    assert (unusable.judged, unusable.correct) == (None, True), "without a verdict its words count"
    assert "1,600" in json.dumps(line.requests[0].body)


@pytest.mark.parametrize(
    ("fields", "read", "right"),
    [
        ({"golden": (("/docs", "/limits"),)}, ["/", "/docs", "/limits"], True),
        ({"golden": (("/docs", "/limits"),)}, ["/", "/docs"], False),
        ({"golden": (("/docs", "/limits"),)}, ["/", "/limits?utm_source=x#columns"], True),
        ({"golden": (("/a",), ("/docs", "/b"))}, ["/a", "/docs", "/b"], True),
        ({"golden": (("/a",), ("/docs", "/b"))}, ["/a", "/docs"], False),
        ({"golden": (("Docs", "Limits"),)}, ["/limits"], None),
        ({"golden": (("Docs", "Limits"),), "sources": ("/limits",)}, ["/limits"], True),
        ({"golden": (("/wrong",),), "sources": (SITE + "/limits#main", "/b")}, ["/b", "/limits"], True),
        ({"sources": ("https://site.test/limits",)}, ["/limits"], True),
        ({"sources": ("https://other.test/limits",)}, ["/limits"], False),
        ({"golden": (("search:columns",),)}, ["/limits"], None),
        ({"golden": (("/#/limits",),)}, ["/#/limits"], True),
        ({"golden": (("/#/limits",),)}, ["/#/other"], False),
        ({}, ["/limits"], None),
    ],
)
async def test_the_right_page_is_every_page_with_the_answer(
    fields: dict[str, object], read: list[str], right: bool | None
) -> None:
    assert (await score(item(**fields), answered("x", *read), base=SITE, judge=None)).right_page is right


async def test_a_path_on_the_live_web_has_no_address() -> None:
    scores = await score(item(sources=("/limits",)), answered("x", "/limits"), base="", judge=None)
    assert scores.right_page is None


async def test_a_page_that_could_not_be_read_was_not_read_and_a_redirect_counts_by_both_ends() -> None:
    missing = page("/limits", status=404)
    broken = page("/limits", status=None, problem="the connection was refused")
    moved = page("/limits", url=SITE + "/docs/limits")
    for read, right in ((missing, False), (broken, False), (moved, True)):
        outcome = Outcome(status="answered", answer="x", trajectory=walk(read))
        assert (await score(item(sources=("/limits",)), outcome, base=SITE, judge=None)).right_page is right
    assert (await score(item(sources=("/docs/limits",)), outcome, base=SITE, judge=None)).right_page is True
