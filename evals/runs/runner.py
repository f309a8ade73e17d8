"""Runs a plan: some questions side by side on an engine, the modes of each one after the other.

Invariant: a question's modes never overlap, so that they do not slow one another; questions do, alike in all modes.
What was found before the run was stopped is in the journal, and is not asked again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

from agent.models.call_account import CallAccount
from evals.runs.engine import Engine, LocalEngine
from evals.runs.errand import Errand
from evals.runs.errors import RunsUnusable
from evals.runs.journal import Journal
from evals.runs.plan import Plan
from evals.runs.record import Record
from evals.suites.item import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far a run is.

    Attributes:
        done: Questions asked, each mode counted, with those of an earlier start.
        total: How many there are.
        latest: What was found last; None before the first.
    """

    done: int
    total: int
    latest: Record | None = None


class Runner:
    """Runs a plan in the background: `async with Runner(plan, journal) as runner: await runner.finished()`.

    Args:
        plan: What is asked, and how.
        journal: Where it is kept; it stays the caller's, and is open.
        listener: Called whenever a question was asked.
        engine: Where questions are asked; None: in this process.

    Resource handling: owns all that its engine opens; leaving the block closes it.
    Cancellation: a cancelled wait ends no question; leaving the block does.
    """

    def __init__(
        self,
        plan: Plan,
        journal: Journal,
        *,
        listener: Callable[[Standing], None] | None = None,
        engine: Engine | None = None,
    ) -> None:
        self._engine = engine or LocalEngine(plan, journal.folder)
        self._plan = plan
        self._journal = journal
        self._start = 1 + max((record.start for record in journal.records), default=0)
        self._listener = listener or (lambda _: None)
        self._results: dict[tuple[str, str], asyncio.Future[Record]] = {}
        self._task: asyncio.Task[None] | None = None

    @property
    def judging(self) -> CallAccount:
        """What the calls to the model that judges took, in this start of the run."""
        return self._engine.judging

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        for item in self._plan.items:
            for mode in self._plan.order(item):
                self._results[item.id, mode] = loop.create_future()
        self._task = asyncio.create_task(self._run(), name="run a suite")
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        for result in self._results.values():
            result.cancel()

    async def finished(self) -> None:
        """Wait until all was asked.

        Raises:
            ConfigurationError: The settings name no usable model, or results cannot be written.
            BrowserError: There is no browser, or it does not start.
        """
        if self._task is None:
            raise RuntimeError("the run was not started: use it as `async with Runner(...) as runner:`")
        await asyncio.shield(self._task)

    async def record(self, item: str, mode: str) -> Record:
        """Wait for what comes of one question in one mode.

        Raises:
            ConfigurationError, BrowserError: As `finished`.
        """
        result = self._results[item, mode]
        if self._task is not None and not result.done():
            either: tuple[asyncio.Future[Any], ...] = (result, self._task)
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not result.done():
            await self.finished()
        return result.result()

    async def _run(self) -> None:
        errands = [*filter(None, map(self._errand, self._plan.items))]
        self._tell(None)
        if errands:
            await self._engine.ask(errands, self._keep)

    def _errand(self, item: Item) -> Errand | None:
        """Hand out what is known of a question already; return what is left to ask, None where that is nothing.

        Raises:
            RunsUnusable: Another question was asked under its id.
        """
        known = tuple(filter(None, (self._journal.record(item.id, mode) for mode in self._plan.modes)))
        asked = self._plan.order(item)
        for record in known:
            if (record.question, record.expected) != (item.question, item.answer):
                raise RunsUnusable(
                    f"{self._journal.folder} holds another question under the id {item.id}: {record.question!r}",
                    hint="Name another folder with --out, or give the question its own id.",
                )
            if record.mode in asked:
                self._results[item.id, record.mode].set_result(record)
        return Errand(item=item, known=known) if {*asked} - {record.mode for record in known} else None

    def _keep(self, record: Record) -> None:
        record = replace(record, start=self._start)
        self._journal.add(record)
        self._results[record.item, record.mode].set_result(record)
        self._tell(record)

    def _tell(self, latest: Record | None) -> None:
        done = sum(result.done() for result in self._results.values())
        self._listener(Standing(done=done, total=len(self._results), latest=latest))
