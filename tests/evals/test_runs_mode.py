"""Modes: which there are, which need what, in which order they run."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from agent.errors import ConfigurationError
from agent.settings import EMBEDDED, PredictorName, Settings, load_settings
from evals.runs.mode import Mode, parse_modes, settings_of
from evals.runs.plan import Plan
from evals.runs.request import Request
from evals.suites import Item, Suite


@pytest.fixture
def settings() -> Settings:
    return load_settings(target=EMBEDDED, draft="none")


def test_modes_are_read_in_their_order_once_each(settings: Settings) -> None:
    assert parse_modes("spec, off,spec", settings) == (Mode.SPEC, Mode.OFF)


def test_all_modes_are_those_that_the_settings_allow(settings: Settings) -> None:
    assert Mode.DRAFT not in parse_modes("all", settings)
    with_draft = load_settings(target=EMBEDDED, draft="small", base_url="http://127.0.0.1:1/v1")
    assert parse_modes("all", with_draft) == tuple(Mode)


@pytest.mark.parametrize(
    ("text", "told"),
    [("of", "'of' is no mode"), ("", "no mode"), ("off,draft", "needs a draft model"), ("oracle", "another mode")],
)
def test_what_cannot_be_run_is_refused(text: str, told: str, settings: Settings) -> None:
    with pytest.raises(ConfigurationError, match=told) as caught:
        parse_modes(text, settings)
    assert caught.value.hint


def test_only_off_is_without_speculation(settings: Settings) -> None:
    assert [mode for mode in Mode if not settings_of(mode, settings).speculation] == [Mode.OFF]
    assert settings_of(Mode.LRU, settings).predictor is PredictorName.NONE


def test_what_a_mode_is_does_not_depend_on_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    request = Request(suite="institute", modes="off,draft", given={"target": "gold", "draft": "small"})
    plain = request.plan()
    for name, value in (("SPECULATION", "false"), ("PREDICTOR", "none"), ("THINK", "3")):
        monkeypatch.setenv(f"SPECCACHE_{name}", value)
    plan = request.plan()
    assert plan.settings == plain.settings
    assert plan.conditions == plain.conditions
    monkeypatch.setenv("SPECCACHE_ACT", "true")
    assert request.plan().conditions.settings["act"] is True


def test_the_simulated_target_thinks_on_the_live_web_too(tmp_path: Path) -> None:
    question = {"id": "a", "question": "?", "answer": "!", "url": "https://example.org/", "golden": [["More"]]}
    (tmp_path / "mine.jsonl").write_text(json.dumps(question), encoding="utf-8")
    request = Request(suite=str(tmp_path / "mine.jsonl"), given={"target": "gold"})
    conditions = request.plan().conditions
    assert (conditions.pace, conditions.time_scale) == ("o4-mini", None)
    assert conditions.think_seconds == pytest.approx(10.01)
    assert replace(request, think="none").plan().conditions.think_seconds == 0
    embedded = replace(request, given={"target": EMBEDDED, "draft": "none"})
    assert embedded.plan().conditions.think_seconds == 0


def test_a_model_thinks_as_long_as_it_takes_unless_it_is_told_to_take_longer(tmp_path: Path) -> None:
    question = {"id": "a", "question": "?", "answer": "!", "url": "https://example.org/"}
    (tmp_path / "mine.jsonl").write_text(json.dumps(question), encoding="utf-8")
    given = {"target": "small", "draft": "none", "base_url": "http://127.0.0.1:1/v1"}
    request = Request(suite=str(tmp_path / "mine.jsonl"), given=given)
    assert request.plan().conditions.caveats() == ()
    assert replace(request, think="o4-mini").plan().conditions.caveats() == (
        "Thinking times are simulated: a decision takes at least 10.01 s on average, as published for o4-mini.",
    )
    offline = replace(request, suite="institute", think="o4-mini").plan().conditions
    assert any("at least 2.002 s on average, as published for o4-mini, times 0.2" in each for each in offline.caveats())
    assert any("at least 3 s on average." in each for each in replace(request, think="3").plan().conditions.caveats())


def test_the_order_of_modes_is_shuffled_by_question_and_the_oracle_is_never_first(settings: Settings) -> None:
    items = tuple(Item(id=f"q{number}", question="?", answer="!") for number in range(60))
    plan = Plan(suite=Suite(name="toy", items=items), items=items, modes=tuple(Mode), settings=settings)
    orders = [plan.order(item) for item in items]
    assert all(sorted(order) == sorted(Mode) for order in orders)
    assert all(order[0] is not Mode.ORACLE for order in orders)
    first = Counter(order[0] for order in orders)
    assert len(first) == len(Mode) - 1
    assert max(first.values()) < 25
    assert orders == [plan.order(item) for item in items]
