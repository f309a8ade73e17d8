"""Runs a plan: some questions side by side on one pool of browsers, the modes of each one after the other.

Invariant: a question's modes never overlap, so that they do not slow one another; questions do, alike in all modes.
What was found before the run was stopped is in the journal, and is not asked again.
"""

from __future__ import annotations

import asyncio
from ast import literal_eval
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

from agent.kept_pages import open_cache_link
from agent.models.call_account import CallAccount
from agent.models.registry import Models
from agent.predictors.embedding import Embedder
from agent.wiring import open_pool
from browser.action import Action, Search, Visit
from evals.runs.asking import Asker
from evals.runs.journal import Journal
from evals.runs.mode import Mode
from evals.runs.plan import Plan
from evals.runs.record import Record
from evals.scoring import Judge, VerdictCache
from evals.suites.item import Item

VERDICTS = "verdicts.sqlite"
TRACES = "traces"


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

    Attributes:
        judging: Counts the calls to the model that judges, in this start of the run.

    Resource handling: owns the browsers, the sites and the models' connections; leaving the block closes them all.
    Cancellation: a cancelled wait ends no question; leaving the block does.
    """

    def __init__(self, plan: Plan, journal: Journal, *, listener: Callable[[Standing], None] | None = None) -> None:
        self.judging = CallAccount()
        self._plan = plan
        self._journal = journal
        self._listener = listener or (lambda _: None)
        self._results: dict[tuple[str, str], asyncio.Future[Record]] = {}
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        for item in self._plan.items:
            for mode in self._plan.modes:
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
        waiting = [item for item in self._plan.items if self._take(item)]
        self._tell(None)
        if not waiting:
            return
        async with self._asker() as asker:
            queue = iter(waiting)
            try:
                async with asyncio.TaskGroup() as group:
                    for number in range(min(self._plan.settings.questions_at_once, len(waiting))):
                        group.create_task(self._work(asker, queue), name=f"ask questions, {number}")
            except ExceptionGroup as failed:
                raise failed.exceptions[0] from failed  # the others were cancelled on its account

    @asynccontextmanager
    async def _asker(self) -> AsyncIterator[Asker]:
        plan, folder = self._plan, self._journal.folder
        async with AsyncExitStack() as stack:
            models = Models(plan.settings)
            stack.push_async_callback(models.aclose)
            judge = self._judge(models) if plan.judge else None
            addresses: Mapping[str, str] = {}
            if plan.suite.serve is not None:
                addresses = await stack.enter_async_context(plan.suite.serve(plan.time_scale or 0.0))
            pool = await stack.enter_async_context(open_pool(plan.settings))
            link = await stack.enter_async_context(open_cache_link(plan.settings))
            embedder = Embedder()
            await embedder.embed(["warm"])  # loading the ranker's model is set-up, part of no run
            yield Asker(
                plan=plan,
                pool=pool,
                addresses=addresses,
                models=models,
                embedder=embedder,
                judge=judge,
                traces=folder / TRACES if plan.has_traces else None,
                link=link,
            )

    def _judge(self, models: Models) -> Judge:
        self.judging = CallAccount(prices=models.prices.origin)
        model = models.chat(str(self._plan.judge), role="judge", listener=self.judging)
        return Judge(model, VerdictCache(self._journal.folder / VERDICTS))

    def _take(self, item: Item) -> bool:
        """Hand out what is known of a question already; tell whether any of its modes is still to be run."""
        known = [self._journal.record(item.id, mode) for mode in self._plan.modes]
        for record in filter(None, known):
            self._results[item.id, record.mode].set_result(record)
        return None in known

    async def _work(self, asker: Asker, queue: Iterator[Item]) -> None:
        for item in queue:
            for order, mode in enumerate(self._plan.order(item), 1):
                if self._journal.record(item.id, mode) is None:
                    record = await asker.ask(item, mode, order=order, known_way=self._known_way(item))
                    self._journal.add(record)
                    self._results[item.id, mode].set_result(record)
                    self._tell(record)

    def _known_way(self, item: Item) -> tuple[Action, ...]:
        """Return what the target did in another mode's run of a question."""
        known = (self._journal.record(item.id, mode) for mode in self._plan.modes if mode is not Mode.ORACLE)
        record = next(filter(None, known), None)
        steps = record.steps if record is not None else ()
        return tuple(filter(None, (_action(step.action) for step in steps)))

    def _tell(self, latest: Record | None) -> None:
        done = sum(result.done() for result in self._results.values())
        self._listener(Standing(done=done, total=len(self._results), latest=latest))


def _action(told: str) -> Action | None:
    """Read an action back from a record; None where it opens no page."""
    kind, _, what = told.partition(" ")
    if kind == "visit":
        return Visit(what)
    return Search(literal_eval(what)) if kind == "search" else None
