"""Going on with a run: what was found is handed out, and only to the question it was found for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agent.models.call_account import CallAccount
from agent.settings import EMBEDDED, load_settings
from evals.report import report_json
from evals.report.paired import pair
from evals.report.wording import pairing_notes
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

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.judging = CallAccount()
        self.asked: list[str] = []

    async def ask(self, errands: Sequence[Errand], keep: Keep) -> None:
        for errand in errands:
            self.asked.append(errand.item.id)
            for mode in self.plan.order(errand.item):
                if mode not in {record.mode for record in errand.known}:
                    record = blank_record("toy", errand.item, mode, order=1)
                    keep(replace(record, status="answered", answer=errand.item.answer))


def plan(*items: Item, modes: Sequence[Mode]) -> Plan:
    settings = load_settings(target=EMBEDDED, draft="none")
    return Plan(suite=Suite(name="toy", items=items), items=items, modes=tuple(modes), settings=settings)


async def run(folder: Path, *items: Item, modes: Sequence[Mode] = (Mode.OFF,)) -> list[str]:
    """Return which questions were asked."""
    asking = plan(*items, modes=modes)
    engine = FakeEngine(asking)
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


async def test_a_mode_that_is_added_later_is_told_to_be_no_neighbour_of_the_others(tmp_path: Path) -> None:
    one, two = (Item(id=f"q{number}", question=f"{number}?", answer=f"{number}!") for number in (1, 2))
    await run(tmp_path, one, modes=(Mode.OFF, Mode.SPEC))
    with Journal(tmp_path, plan(one, modes=(Mode.OFF,)).conditions) as journal:
        assert pair(journal.records).apart == {}
    assert await run(tmp_path, one, two, modes=(Mode.OFF, Mode.SPEC, Mode.RANK)) == ["q1", "q2"]
    with Journal(tmp_path, plan(one, modes=(Mode.OFF,)).conditions) as journal:
        found = pair(journal.records)
        report = report_json(journal.records, plan(one, modes=(Mode.OFF,)).conditions)
    assert found.apart == report["questions"]["not_side_by_side"] == {"rank": 1}
    assert any(note.startswith("Not side by side with off") and "rank 1 of 2" in note for note in pairing_notes(found))


async def test_what_is_left_out_of_a_plan_is_not_asked(tmp_path: Path) -> None:
    items = tuple(Item(id=f"q{number}", question=f"{number}?", answer=f"{number}!") for number in (1, 2))
    asking = replace(plan(*items, modes=(Mode.OFF, Mode.SPEC)), only=frozenset({("q2", "spec")}))
    with Journal(tmp_path, asking.conditions) as journal:
        async with Runner(asking, journal, engine=FakeEngine(asking)) as runner:
            await runner.finished()
        assert [(record.item, record.mode) for record in journal.records] == [("q2", "spec")]
