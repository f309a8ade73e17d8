"""What a sweep is asked for, in which order it goes, and how it shows what it found."""

from __future__ import annotations

import io
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from agent.errors import ConfigurationError
from agent.settings import load_settings
from browser.errors import AddressRefused
from evals.tune.plot import draw
from evals.tune.progress_bar import ProgressBar
from evals.tune.recommendation import recommend
from evals.tune.report import Report, show
from evals.tune.request import Request, check_files, read_request
from evals.tune.subject import QUICK, Pace, Subject
from evals.tune.summary import sizes_of, waits_of
from evals.tune.sweep import Plan, Standing, Stop, Sweep, stops_of
from tests.evals.test_tune_recommendation import MEBIBYTE, THREE, WAITS, loads, questions

PLAN = Plan(sizes=(1, 2, 4), guesses=(1, 3), rounds=3, pace=QUICK)


def test_every_round_visits_every_setting_once() -> None:
    stops = stops_of(PLAN, asks=True)
    assert [stop.round for stop in stops] == sorted(stop.round for stop in stops)
    visits = Counter((stop.round, stop.slots, stop.guesses) for stop in stops)
    assert set(visits.values()) == {1}
    assert len(visits) == 3 * (3 + 1 + 3 * 2)


def test_the_order_differs_between_rounds_and_not_between_runs() -> None:
    stops = stops_of(PLAN, asks=True)
    assert stops == stops_of(PLAN, asks=True)
    orders = {tuple((stop.slots, stop.guesses) for stop in stops if stop.round == number) for number in range(3)}
    assert len(orders) == 3


def test_without_questions_only_full_pools_are_measured() -> None:
    assert {stop.guesses for stop in stops_of(PLAN, asks=False)} == {None}


def test_a_sweep_in_which_nothing_loads_is_given_up_after_one_round() -> None:
    sweep = Sweep(PLAN, load_settings())
    subject = Subject(name="the site", pages=(), tasks=(), asking="", think_seconds=1.0)
    for slots in PLAN.sizes:
        sweep._give_up_on(subject)
        [sample] = loads({slots: (0.0,)}, busy=(slots,))
        sweep.samples.append(replace(sample, load_seconds=()))
    with pytest.raises(ConfigurationError, match="no page of the site could be loaded ahead: host-busy"):
        sweep._give_up_on(subject)


def request(
    *,
    urls: tuple[str, ...] = (),
    questions: Path | None = None,
    sizes: str | None = None,
    guesses: str | None = None,
    rounds: int | None = None,
    memory_limit_mib: int | None = None,
    quick: bool = False,
) -> Request:
    return read_request(
        urls=urls,
        questions=questions,
        sizes=sizes,
        guesses=guesses,
        rounds=rounds,
        memory_limit_mib=memory_limit_mib,
        quick=quick,
    )


def test_defaults() -> None:
    plan = request().plan
    assert (plan.sizes, plan.guesses, plan.rounds, plan.pace) == ((1, 2, 4, 6, 8), (1, 2, 3, 5), 3, Pace())
    quick = request(quick=True).plan
    assert (quick.sizes, quick.guesses, quick.rounds, quick.pace) == ((1, 2, 4), (1, 3), 1, QUICK)


def test_what_is_given_counts() -> None:
    asked = request(sizes=" 4, 2,2", guesses="1", rounds=2, memory_limit_mib=100, quick=True, urls=("x.org",))
    assert (asked.plan.sizes, asked.plan.guesses, asked.plan.rounds) == ((2, 4), (1,), 2)
    assert (asked.budget.memory_bytes, asked.budget.rule, asked.urls) == (
        100 * MEBIBYTE,
        "as given",
        ("https://x.org",),
    )


def test_half_of_what_is_available_is_the_limit_where_none_is_given() -> None:
    budget = request().budget
    assert budget.memory_bytes > 0
    assert budget.rule.startswith("50% of the ")


@pytest.mark.parametrize("text", ["", "0", "1,,2", "1;2", "-1", "65", "two", "1.5", "１"])
def test_sizes_that_are_none_are_told_of(text: str) -> None:
    with pytest.raises(ConfigurationError, match="--sizes"):
        request(sizes=text or ",")


def test_guesses_have_an_upper_end() -> None:
    with pytest.raises(ConfigurationError, match="from 1 to 16"):
        request(guesses="17")


def test_questions_need_a_site() -> None:
    with pytest.raises(ConfigurationError) as caught:
        request(questions=Path("qa.jsonl"))
    assert "--url" in caught.value.hint


def test_an_address_must_be_one() -> None:
    with pytest.raises(AddressRefused):
        request(urls=("file:///etc/hostname",))


def test_files_are_checked_before_anything_is_measured(tmp_path: Path) -> None:
    check_files(output=tmp_path / "new" / "o.json", plot=tmp_path / "p.PNG")
    assert (tmp_path / "new").is_dir()
    for output, plot in (
        (tmp_path / "o.json", tmp_path / "p.jpg"),
        (tmp_path, None),
        (tmp_path / "file" / "o.json", None),
    ):
        (tmp_path / "file").touch()
        with pytest.raises(ConfigurationError):
            check_files(output=output, plot=plot)


def report(*, planned: int = 30, asks: bool = True) -> Report:
    sizes, waits = sizes_of(loads(THREE)), waits_of(questions(WAITS) if asks else [])
    return Report(
        subject="http://a.example/$x$",
        asking="its questions",
        think_seconds=1.0,
        rounds=3,
        measured=30,
        planned=planned,
        cores=2.0,
        memory_bytes=2**30,
        memory_rule="as given",
        sizes=sizes,
        waits=waits,
        recommendation=recommend(sizes, waits, memory_bytes=2**30, cores=2),
        samples=tuple(loads(THREE)),
    )


def test_a_report_is_one_json_object() -> None:
    shown = json.loads(json.dumps(report().as_json()))
    assert shown["recommendation"]["pool_size"] == 2
    assert shown["sizes"][0]["pss_mib_a_page"] == 50.0
    assert shown["questions"][0] == {
        "pool_size": 1,
        "max_guesses": 0,
        "exposed_s": {"median": 9.0, "low": 9.0, "high": 9.0},
        "used": None,
    }
    assert shown["samples"][0]["kind"] == "LoadSample"


def test_what_is_partial_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    show(report(planned=31))
    shown = capsys.readouterr().out
    assert shown.startswith("PARTIAL: 30 of 31")
    assert report(planned=31).as_json()["partial"] is True
    show(report())
    assert "PARTIAL" not in capsys.readouterr().out


def test_the_table_marks_what_is_recommended(capsys: pytest.CaptureFixture[str]) -> None:
    show(report())
    shown = capsys.readouterr().out
    [row] = [line for line in shown.splitlines() if line.strip().startswith("* 2 ")]
    assert "* 3.00" in row
    assert "without speculation: 9.00 s" in shown
    assert "recommended: pool_size = 2, max_guesses = 3" in shown


def test_a_size_that_loaded_nothing_is_shown_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nothing = [replace(sample, pages_per_second=0.0, load_seconds=()) for sample in loads({1: (1.0,)})]
    found = replace(report(asks=False), sizes=sizes_of([*nothing, *loads({2: (4.0,)})]))
    assert found.as_json()["sizes"][0]["p95_s"] is None
    best = recommend(found.sizes, [], memory_bytes=2**30, cores=2)
    assert best is not None
    assert best.pool_size == 2
    show(found)
    assert [row.split()[1:4] for row in capsys.readouterr().out.splitlines() if row.split()[:1] == ["1"]] == [
        ["0.00", "-", "-"]
    ]
    draw(found, tmp_path / "a.svg")


def test_without_questions_it_says_what_decides(capsys: pytest.CaptureFixture[str]) -> None:
    show(report(asks=False))
    assert "nothing was asked" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "begins"), [("a.svg", b"<?xml"), ("a.png", b"\x89PNG")])
def test_a_plot_is_what_its_name_says(tmp_path: Path, name: str, begins: bytes) -> None:
    draw(report(asks=name.endswith("svg")), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_progress_shows_what_is_measured_and_how_long_it_takes() -> None:
    screen = io.StringIO()
    with ProgressBar(Console(file=screen, force_terminal=True, width=120)) as bar:
        bar(Standing(done=1, total=9, next=Stop(round=0, slots=4, guesses=3), left_seconds=200))
    assert "measuring 4 slots and 3 guesses a turn, about 3 min left" in screen.getvalue()
    quiet = io.StringIO()
    with ProgressBar(Console(file=quiet)) as bar:
        bar(Standing(done=1, total=9, next=Stop(round=0, slots=4), left_seconds=20))
    assert quiet.getvalue() == ""
