"""One question in all its modes, asked one after the other.

Invariant: the modes of a question run in one process, on one pool, and never overlap, so that they can be compared.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace

from browser.action import Action, Search, Visit
from evals.runs.asking import Asker, blank_record
from evals.runs.mode import Mode
from evals.runs.record import Record
from evals.suites.item import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """A question to be asked in several modes.

    Attributes:
        item: The question.
        known: What was found in some of them before; they are not asked again.
    """

    item: Item
    known: tuple[Record, ...] = ()


async def run_errand(asker: Asker, errand: Errand) -> AsyncGenerator[Record, None]:
    """Ask a question in the modes that are not known yet, each when the one before was taken."""
    records = {record.mode: record for record in errand.known}
    order = max((record.order for record in errand.known), default=0)
    for mode in asker.plan.order(errand.item):
        if mode not in records:
            order += 1
            before = [records[told] for told in asker.plan.modes if told in records]
            record = await _ask(asker, errand.item, mode, order=order, before=before)
            records[mode] = record
            yield record


async def _ask(asker: Asker, item: Item, mode: Mode, *, order: int, before: Sequence[Record]) -> Record:
    """Ask in one mode; the oracle, whom no run has told the way, is not asked: it would be one that knows nothing."""
    told = [record for record in before if record.mode != Mode.ORACLE and not record.broken]
    if mode is Mode.ORACLE and not told:
        broken = "no run in another mode has told the oracle the way"
        return replace(blank_record(asker.plan.suite.name, item, mode, order=order), broken=broken)
    return await asker.ask(item, mode, order=order, known_way=_way(told[0]) if told else ())


def _way(record: Record) -> tuple[Action, ...]:
    """Return what the target did in a run."""
    return tuple(filter(None, (_action(step.action) for step in record.steps)))


def _action(told: str) -> Action | None:
    """Read an action back from a record; None where it opens no page."""
    kind, _, what = told.partition(" ")
    if kind == "visit":
        return Visit(what)
    return Search(literal_eval(what)) if kind == "search" else None
