"""Going on with a run: what was found is handed out, and only to the question it was found for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agent.models.call_account import CallAccount
from agent.settings import EMBEDDED, load_settings
from evals.runs.asking import blank_record
from evals.runs.engine import Keep
from evals.runs.errand import Errand
from evals.runs.errors import RunsUnusable
from evals.runs.journal import Journal
from evals.runs.mode import Mode
from evals.runs.plan import Plan
from evals.runs.runner import Runner
from evals.suites import Item, Suite


class FakeEngine:
    """Answers each question by its expected answer."""

    def __init__(self) -> None:
        self.judging = CallAccount()
        self.asked: list[str] = []

    async def ask(self, errands: Sequence[Errand], keep: Keep) -> None:
        for errand in errands:
            self.asked.append(errand.item.id)
            record = blank_record("toy", errand.item, Mode.OFF, order=1)
            keep(replace(record, status="answered", answer=errand.item.answer))


def plan(*items: Item) -> Plan:
    settings = load_settings(target=EMBEDDED, draft="none")
    return Plan(suite=Suite(name="toy", items=items), items=items, modes=(Mode.OFF,), settings=settings)


async def run(folder: Path, *items: Item) -> list[str]:
    """Return which questions were asked."""
    asking, engine = plan(*items), FakeEngine()
    with Journal(folder, asking.conditions) as journal:
        async with Runner(asking, journal, engine=engine) as runner:
            await runner.finished()
            assert [(await runner.record(item.id, "off")).answer for item in items] == [item.answer for item in items]
    return engine.asked


async def test_only_what_is_missing_is_asked_and_never_taken_from_another_question(tmp_path: Path) -> None:
    one, two = (Item(id=f"q{number}", question=f"{number}?", answer=f"{number}!") for number in (1, 2))
    assert await run(tmp_path, one) == ["q1"]
    assert await run(tmp_path, one, two) == ["q2"]
    for changed in (replace(one, question="Which?"), replace(one, answer="3")):
        with pytest.raises(RunsUnusable, match="another question under the id q1") as caught:
            await run(tmp_path, changed, two)
        assert "--out" in caught.value.hint
