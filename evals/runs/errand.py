"""One question in all its modes, asked one after the other.

Invariant: the modes of a question run in one process, on one pool, and never overlap, so that they can be compared.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from browser.action import Action, Search, Visit
from evals.runs.asking import Asker
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
    for order, mode in enumerate(asker.plan.order(errand.item), 1):
        if mode not in records:
            way = _known_way([records[told] for told in asker.plan.modes if told in records])
            record = await asker.ask(errand.item, mode, order=order, known_way=way)
            records[mode] = record
            yield record


def _known_way(records: list[Record]) -> tuple[Action, ...]:
    """Return what the target did in another mode's run of a question."""
    record = next((each for each in records if each.mode != Mode.ORACLE and not each.broken), None)
    steps = record.steps if record is not None else ()
    return tuple(filter(None, (_action(step.action) for step in steps)))


def _action(told: str) -> Action | None:
    """Read an action back from a record; None where it opens no page."""
    kind, _, what = told.partition(" ")
    if kind == "visit":
        return Visit(what)
    return Search(literal_eval(what)) if kind == "search" else None
