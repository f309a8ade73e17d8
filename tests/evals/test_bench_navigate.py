"""The benchmark `navigate`: what counts as a whole page, what is compared with what, and one small run of all of it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from rich.progress import Progress

from evals.bench.contents import Contents, text_of
from evals.bench.crawl4ai_reader import Crawl4aiReader
from evals.bench.navigate import navigate
from evals.bench.navigate_cell import Cell
from evals.bench.navigate_plan import Plan, places_in
from evals.bench.navigate_table import print_navigate
from evals.bench.navigate_target import targets
from evals.bench.page_readers import CRAWLER, IDEAL, LOADED, OURS, Load, Round

SECONDS = {OURS: 0.5, IDEAL: 0.4, CRAWLER: 1.0}


def cell(*, incomplete: Sequence[str] = (), seconds: Mapping[str, float] = SECONDS) -> Cell:
    filled = Cell(site="depot", delay_milliseconds=0, concurrency=2)
    for program, each in seconds.items():
        load = Load(seconds=each, complete=program not in incomplete)
        filled.rounds[program] = [Round(seconds=each, loads=(load, load)) for _ in range(3)]
    return filled


def test_an_observation_is_complete_with_every_text_whatever_marks_them_up() -> None:
    page = Contents(path="/", texts=("The first  line", "What is_in between", "the last"))
    assert page.complete("# The first line\n\nWhat **is_in** between\n\n[the last][3]")
    assert not page.complete("# The first line\n\nWhat is_in between")
    html = "<p>The <b>first</b> line<p>What is_in between<script>'the last'</script>"
    assert not page.complete(text_of(html))
    assert page.complete(text_of(f"{html}<p>the last"))


def test_programs_are_compared_by_what_both_read_completely() -> None:
    both = cell()
    ratio, rate = both.p50_ratio(CRAWLER), both.rate_ratio(CRAWLER)
    assert ratio is not None
    assert rate is not None
    assert (ratio.value, rate.value) == (0.5, 2.0)
    early = cell(incomplete=[CRAWLER])
    assert (early.complete(CRAWLER), early.p50_ratio(CRAWLER), early.rate_ratio(CRAWLER)) == (0.0, None, None)


@pytest.mark.parametrize(
    ("measured", "mebibytes", "holds"),
    [
        (cell(), 30.0, [True, True, True, True, True]),
        (cell(incomplete=[OURS]), 31.5, [False, None, None, False, False]),
        (cell(seconds={**SECONDS, OURS: 1.1}), 30.0, [True, False, False, False, True]),
        (cell(incomplete=[CRAWLER]), 30.0, [True, None, True, None, True]),
    ],
)
def test_targets_hold_where_they_do_and_are_open_where_nothing_tells(
    measured: Cell, mebibytes: float, holds: list[bool | None]
) -> None:
    assert [claim.holds for claim in targets([measured], page_mebibytes={"depot": mebibytes})] == holds


async def test_a_worker_that_does_not_start_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="crawl4ai ended"):
        async with Crawl4aiReader.opened(Path(sys.executable)):
            pass


async def test_a_folder_of_sites_is_read_by_all_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    depot = tmp_path / "depot"
    depot.mkdir()
    (depot / "index.html").write_text("".join(f"<a href='/{name}'>{name}</a> " for name in ("trams", "buses")))
    for name in ("trams", "buses"):
        draw = "".join(f"<p>Of the {name}, number {number} is {number}0 years old.</p>" for number in range(9))
        script = f"setTimeout(() => document.body.insertAdjacentHTML('beforeend', `{draw}`), 100)"
        (depot / f"{name}.html").write_text(f"<h1>{name}</h1><script>{script}</script>")
    (tmp_path / "empty").mkdir()
    places = places_in(tmp_path)
    assert [place.name for place in places] == ["depot"]
    plan = Plan(
        places=places, delays_milliseconds=(0,), concurrencies=(2,), loads=4, pages=3, sessions=1, quiet_seconds=0.5
    )
    with Progress(disable=True) as progress:
        result = await navigate(plan, progress)

    shown = result.as_json()
    assert (shown["name"], shown["n"]) == ("navigate", 8)
    (measured,) = shown["parts"]["cells"]
    complete = {program: figures["complete"] for program, figures in measured["programs"].items()}
    assert (complete[OURS], complete[IDEAL]) == (1.0, 1.0)
    assert complete[LOADED] < 1.0  # it reads before the script has drawn
    assert shown["parts"]["page_mebibytes"]["depot"] > 0
    print_navigate(result)
    assert "PASS  share of complete observations 1" in capsys.readouterr().out
