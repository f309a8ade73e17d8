"""The benchmark `soak`: a short run in which a browser is killed and a renderer crashes."""

from __future__ import annotations

import pytest

from evals.bench.claim import at_most
from evals.bench.contents import Contents
from evals.bench.soak import Soak, SoakPlan
from evals.bench.soak_command import print_soak
from tests.website import Website

PAGES = {f"/line-{number}": f"<h1>Line {number}</h1><p>Opened in 19{number}0.</p>" for number in range(1, 5)}
KNOWN = [
    Contents(path=f"/line-{number}", texts=(f"Line {number}", f"Opened in 19{number}0.")) for number in range(1, 5)
]
MISTAKEN = Contents(path="/line-1", texts=("Line 2",))


async def test_nothing_is_lost_or_left_behind_and_a_wrong_page_is_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    plan = SoakPlan(loads=20, slots=2, kill_every=12, crash_every=6, rest_every=10, warm_up=0)
    async with Website({"/robots.txt": "", **PAGES}) as site:
        result = await Soak(plan, base=site.url, known=[*KNOWN, MISTAKEN]).run()
    parts = result.parts
    assert sorted(parts["lost"]) == sorted(f"load {number}: /line-1: not the whole page" for number in (5, 10, 15, 20))
    claims = {claim["claim"]: claim["found"] for claim in parts["claims"]}
    assert (claims["loads lost"], claims["pages left open"], claims["orphans"]) == (4, 0, 0)
    assert parts["killed_browsers"] == 1
    assert 1 <= parts["crashed_renderers"] <= 3
    assert parts["real_loads"] + parts["loads_ahead"] == plan.loads
    print_soak(result)
    shown = capsys.readouterr().out
    assert "FAIL  loads lost: 4" in shown
    assert "PASS  orphans: 0" in shown


def test_a_claim_holds_up_to_its_limit_and_is_open_without_figures() -> None:
    assert [at_most("drift", {"": figure}, 0.1).holds for figure in (0.1, 0.11)] == [True, False]
    assert at_most("drift", {}, 0.1).holds is None
