"""The arithmetic of capacity by figures worked out by hand, and the simulation against it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evals.capacity.__main__ import app
from evals.capacity.demand import Demand, demand_of, read_demand
from evals.capacity.sheet import CACHE, JOURNAL, PROCESSORS, REQUESTS, SITES, SLOTS, TOKENS, row
from evals.capacity.simulation import bottlenecks, simulate
from evals.capacity.supply import Machine, Supply
from evals.runs.errors import RunsUnusable
from tests.evals.hand_made import four

# A question of 20 s: 4 turns of 2 requests and 1,000 tokens, 10 pages.
QUESTION = Demand(
    seconds=20.0, llm_seconds=12.0, exposed_seconds=6.0, turns=4.0, loads=10.0, model_requests=8.0, model_tokens=4000.0
)
SUPPLY = Supply(
    slots=80,
    machine=Machine(cpus=4, memory_mib=8192),
    requests_a_minute=1200,
    tokens_a_minute=480_000,
    hosts=10,
    host_rate=2.0,
    load_cpu_seconds=0.1,
    cache_operations=3000.0,
    journal_seconds=0.01,
)


def test_a_question_is_what_the_records_of_its_mode_say() -> None:
    demand = demand_of(four(), mode="spec")
    # Question a: 3 turns, waited 2 + 0 + 0.5 s, 5 pages ahead and 1 miss. b: 2 turns, 1 + 5 s, 3 ahead and 2 misses.
    assert demand.turns == 2.5
    assert demand.exposed_seconds == (2.5 + 6.0) / 2
    assert demand.llm_seconds == 7.5
    assert demand.loads == (6 + 5) / 2
    assert demand.model_requests == 5.0
    assert demand.model_tokens == (132 + 66) / 2
    assert demand_of(four(), mode="spec", calls_a_turn=3, tokens_a_turn=1000).model_tokens == 2500
    with pytest.raises(RunsUnusable, match="no question was asked in the mode oracle"):
        demand_of(four(), mode="oracle")


def test_a_sheet_by_hand() -> None:
    found = row(QUESTION, SUPPLY)
    assert found.workers == 10
    # 10 workers of 430 + 4 x 31 MiB, 80 slots of 31 MiB.
    assert found.memory_mib == 10 * 554 + 80 * 31 == 8020
    # Of a machine 0.8 x 8,192 MiB are planned with; 4 questions a second x 10 pages x 0.1 s take 4 of 3.2 processors.
    assert found.machines == 2
    assert found.ceilings == pytest.approx(
        {
            TOKENS: 480_000 * 60 / 4000,  # 7,200
            SITES: 10 * 2.0 * 3600 / 10,  # 7,200
            REQUESTS: 1200 * 60 / 8,  # 9,000
            SLOTS: 80 * 3600 / 20,  # 14,400
            PROCESSORS: 8 * 3600 / 1.0,  # 28,800
            JOURNAL: 3600 / 0.01,
            CACHE: 3000 * 3600 / 30,
        }
    )
    assert found.questions_an_hour == pytest.approx(7200)


def test_what_has_no_limit_or_is_not_used_is_no_ceiling() -> None:
    free = row(replace(QUESTION, model_tokens=0.0), Supply(slots=1, tokens_a_minute=1.0, cache_operations=None))
    assert free.bottleneck == SLOTS
    assert set(free.ceilings) == {SLOTS, PROCESSORS, JOURNAL}


def test_a_simulation_without_limits_does_what_its_slots_do() -> None:
    found = simulate(QUESTION, Supply(slots=200, cache_operations=None))
    assert found.bottleneck == SLOTS
    assert found.questions_an_hour == pytest.approx(200 * 180, rel=0.05)
    assert found.question_seconds == pytest.approx(20, rel=0.05)
    assert found == simulate(QUESTION, Supply(slots=200, cache_operations=None))


def test_a_simulation_finds_one_bottleneck_after_the_other() -> None:
    supply = replace(SUPPLY, slots=400, host_rate=5.0, machines=2)
    steps = bottlenecks(QUESTION, supply)
    # Ceilings: tokens 7,200; requests 9,000; sites 18,000; two machines 28,800; 400 slots 72,000 questions an hour.
    assert [step.bottleneck for step in steps] == [TOKENS, REQUESTS, SITES, PROCESSORS, SLOTS]
    ceilings = [7200, 9000, 18_000, 28_800, 72_000]
    assert [step.questions_an_hour for step in steps] == pytest.approx(ceilings, rel=0.06)
    assert steps[0].waited_seconds[TOKENS] > 100
    assert steps[0].question_seconds == pytest.approx(400 / (7200 / 3600), rel=0.06)


def test_the_command_prints_a_table_an_object_and_a_picture(tmp_path: Path) -> None:
    # As the journal writes them: a text may hold another of Unicode's line separators.
    records = [replace(record, answer="42\u2028") for record in four()]
    lines = "".join(json.dumps(record.as_json(), ensure_ascii=False) + "\n" for record in records)
    (tmp_path / "runs.jsonl").write_text(lines + '{"cut', encoding="utf-8")
    assert read_demand(tmp_path).turns == 2.5
    words = [str(tmp_path), "--slots", "10", "--slots", "100", "--rpm", "60", "--plot", str(tmp_path / "plot.svg")]
    told = CliRunner().invoke(app, words)
    assert told.exit_code == 0, told.output
    assert "100 slots are held up by model requests" in told.stdout
    assert (tmp_path / "plot.svg").stat().st_size > 5000
    sizes = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)["sizes"]
    assert [size["sheet"]["slots"] for size in sizes] == [10, 100]
    assert sizes[1]["simulated"][0]["bottleneck"] == REQUESTS
    nothing = CliRunner().invoke(app, [str(tmp_path), "--mode", "lru"])
    assert nothing.exit_code == 2
