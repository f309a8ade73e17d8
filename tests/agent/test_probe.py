"""A latency study: spaced, resumable, and honest about calls that failed."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.models.model import ChatModel
from agent.probe.record import Record, RecordFile
from agent.probe.study import Plan, Study, Subject
from tests.agent.command import speccache
from tests.endpoints.connected import connected
from tests.endpoints.scripted import Body, Fail, Say, Scripted, ScriptedEndpoint

KEY = {"SPECCACHE_API_KEY": "sk-scripted"}


class Days:
    """Time that passes only where a study sleeps, and a second a call."""

    def __init__(self) -> None:
        self.now = datetime(2025, 7, 23, 10, tzinfo=UTC)
        self.slept: list[float] = []

    def today(self) -> datetime:
        return self.now

    def clock(self) -> float:
        self.now += timedelta(seconds=1)
        return self.now.timestamp()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def file(tmp_path: Path) -> RecordFile:
    return RecordFile(tmp_path / "probe.jsonl")


def subjects(model: ChatModel, *tiers: str) -> list[Subject]:
    return [Subject(label="scripted", tier=tier, model=model) for tier in tiers]


async def study(model: ChatModel, file: RecordFile, days: Days, *, calls: int, tiers: Sequence[str]) -> list[int]:
    """Run a study to its end; gives the numbers of calls that were left after each."""
    left: list[int] = []
    plan = Plan(calls=calls, every_seconds=3600.0, place="lab")
    running = Study(subjects(model, *tiers), plan, file, sleep=days.sleep, clock=days.clock, today=days.today)
    await running.run(lambda _, count: left.append(count))
    return left


async def test_rounds_are_spaced_and_nobody_is_always_first(file: RecordFile) -> None:
    days = Days()
    async with ScriptedEndpoint(lambda _: Say("once ", "upon")) as endpoint, connected(endpoint) as model:
        left = await study(model, file, days, calls=2, tiers=["default", "priority"])
    records = file.read()
    assert [record.tier for record in records] == ["default", "priority", "priority", "default"]
    assert left == [3, 2, 1, 0]
    assert days.slept[0] == 0.0
    assert 3500 < days.slept[1] < 3600, "what the round took is part of the hour"
    first = records[0]
    assert (first.place, first.error, first.output_tokens) == ("lab", "", 2)
    assert first.first_token_seconds is not None
    assert 0 < first.first_token_seconds < first.seconds


async def test_a_study_that_was_broken_off_makes_the_missing_calls_only(file: RecordFile) -> None:
    days = Days()
    async with ScriptedEndpoint(lambda _: Say("story")) as endpoint, connected(endpoint) as model:
        await study(model, file, days, calls=1, tiers=["default"])
        days.now += timedelta(minutes=20)
        left = await study(model, file, days, calls=3, tiers=["default", "flex"])
        again = await study(model, file, days, calls=3, tiers=["default", "flex"])
    assert [record.tier for record in file.read()].count("default") == 3
    assert (left[-1], again) == (0, [])
    assert 2300 < days.slept[1] < 2400, "the round before is kept apart from, too"
    assert len(endpoint.requests) == 6


async def test_a_call_that_fails_is_written_down_and_the_study_goes_on(file: RecordFile) -> None:
    script = [Fail(status=503, message="overloaded"), Say("story")]
    async with ScriptedEndpoint(script) as endpoint, connected(endpoint) as model:
        await study(model, file, Days(), calls=2, tiers=["default"])
    failed, answered = file.read()
    assert "overloaded" in failed.error
    assert (failed.first_token_seconds, answered.error) == (None, "")


async def test_the_command_measures_reports_and_goes_on(tmp_path: Path) -> None:
    bodies: list[Body] = []

    def reply(body: Body) -> Scripted:
        bodies.append(body)
        return Say("a", "b", "c")

    async with ScriptedEndpoint(reply) as endpoint:
        words = ["probe", "scripted", "--base-url", endpoint.base_url, "--every", "0", "--place", "lab"]
        files = ["--csv", "table.csv", "--plot", "calls.svg"]
        first = await speccache(
            *words, "--tier", "default", "--tier", "priority", "--calls", "2", *files, cwd=tmp_path, variables=KEY
        )
        second = await speccache(*words, "--calls", "3", "--json", cwd=tmp_path, variables=KEY)
        report = await speccache("probe", "--calls", "0", cwd=tmp_path)
    assert first.code == 0, first.err
    assert "priority against default" in first.out
    assert "3 calls left" in first.err
    with (tmp_path / "table.csv").open(newline="") as table:
        assert [row["calls"] for row in csv.DictReader(table)] == ["2", "2"]
    assert (tmp_path / "calls.svg").read_text().startswith("<?xml")
    shown = json.loads(second.out)
    assert [each["latency"]["calls"] for each in shown["series"]] == [3, 2]
    assert len(bodies) == 5
    assert bodies[0]["messages"] == bodies[-1]["messages"], "identical calls"
    assert "service_tier" not in bodies[0]
    assert bodies[1]["service_tier"] == "priority"
    assert "scripted │ default" in report.out, "a line each where there is no terminal"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--calls", "1"], "no model is named"),
        (["gpt-5-mini", "--calls", "1"], "key"),
        (["m", "--calls", "1", "--plot", "calls.gif"], "no picture"),
        (["m", "--calls", "1", "--tier", "quick"], "no service tier quick"),
        (["--calls", "0", "--output", "wrong.jsonl"], "no record of a study"),
    ],
)
async def test_wrong_usage_is_told_of(tmp_path: Path, words: list[str], says: str) -> None:
    (tmp_path / "wrong.jsonl").write_text("hello\n")
    result = await speccache("probe", *words, cwd=tmp_path)
    assert result.code == 2, result.err
    assert says in result.err
    assert "hint:" in result.err


def test_a_record_knows_its_day_and_series() -> None:
    record = Record(at="2025-07-23T10:00:00+00:00", model="m", tier="flex", place="", endpoint="e", seconds=1.0)
    assert (record.day, str(record.series)) == ("2025-07-23", "m flex")
