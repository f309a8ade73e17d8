"""One question in its modes: who is asked what, and what the oracle is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agent.settings import EMBEDDED, load_settings
from browser.action import Action, Search, Visit
from evals.runs import PageStep, Record
from evals.runs.asking import blank_record
from evals.runs.errand import Errand, run_errand
from evals.runs.mode import Mode
from evals.runs.plan import Plan
from evals.suites import Item, Suite

ITEM = Item(id="q", question="?", answer="!")
PLAN = Plan(
    suite=Suite(name="toy", items=(ITEM,)),
    items=(ITEM,),
    modes=(Mode.OFF, Mode.ORACLE),
    settings=load_settings(target=EMBEDDED, draft="none"),
)
STEPS = tuple(
    PageStep(action=action, kind="miss", load_seconds=1.0, waited_seconds=1.0)
    for action in ("visit /", "search 'tram'", "more", "visit /tram")
)


@dataclass
class FakeAsker:
    """Goes the same way in every mode, unless nothing can be asked."""

    broken: str = ""
    plan: Plan = PLAN
    ways: dict[Mode, Sequence[Action]] = field(default_factory=dict)

    async def ask(self, item: Item, mode: Mode, *, order: int, known_way: Sequence[Action] = ()) -> Record:
        self.ways[mode] = known_way
        record = blank_record(self.plan.suite.name, item, mode, order=order)
        return replace(record, status="answered", broken=self.broken, steps=() if self.broken else STEPS)


async def asked(asker: FakeAsker, *known: Record) -> list[Record]:
    errand = Errand(item=ITEM, known=known)
    return [record async for record in run_errand(asker, errand)]  # type: ignore[arg-type]


async def test_the_oracle_is_told_the_way_of_the_run_before() -> None:
    asker = FakeAsker()
    off, oracle = await asked(asker)
    assert (off.mode, oracle.mode, oracle.broken) == (Mode.OFF, Mode.ORACLE, "")
    assert asker.ways == {Mode.OFF: (), Mode.ORACLE: (Visit("/"), Search("tram"), Visit("/tram"))}


async def test_an_oracle_that_nobody_could_tell_the_way_is_to_be_asked_again() -> None:
    asker = FakeAsker(broken="no browser")
    _, oracle = await asked(asker)
    assert (oracle.order, oracle.status) == (2, "error")
    assert "the way" in oracle.broken
    assert list(asker.ways) == [Mode.OFF]


async def test_what_is_left_is_counted_on_from_what_was_asked_before() -> None:
    before = replace(blank_record("toy", ITEM, Mode.SPEC, order=3), status="answered", steps=STEPS)
    assert [(record.mode, record.order) for record in await asked(FakeAsker(), before)] == [
        (Mode.OFF, 4),
        (Mode.ORACLE, 5),
    ]
