"""Where questions are asked: in this process, or on a cluster.

Invariant: an engine decides where and when a question is asked, never what comes of it: records are the same from each,
but for their times.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agent.models.call_account import CallAccount
from evals.runs.asking import Asker
from evals.runs.equipment import open_asker
from evals.runs.errand import Errand, run_errand
from evals.runs.plan import Plan
from evals.runs.record import Record

if TYPE_CHECKING:
    from agent.telemetry.prometheus import Metrics

Keep = Callable[[Record], None]
"""Takes a record as soon as there is one; what it raises ends the run."""


class Engine(Protocol):
    """Asks the questions of a plan.

    Attributes:
        judging: Counts the calls to the model that judges.

    Cancellation: the questions under way end, and everything that was opened is closed.
    """

    judging: CallAccount

    async def ask(self, errands: Sequence[Errand], keep: Keep) -> None:
        """Ask all of them.

        Raises:
            ConfigurationError: The settings name no usable model, or there is no such cluster.
            BrowserError: There is no browser, or it does not start.
            Exception: What `keep` raised.
        """


class LocalEngine:
    """Asks on one pool of browsers in this process, several questions side by side.

    Args:
        plan: What is asked, and how.
        folder: Where verdicts and traces are kept.
        metrics: Figures for Prometheus; None: nobody reads them.
    """

    def __init__(self, plan: Plan, folder: Path, *, metrics: Metrics | None = None) -> None:
        self.judging = CallAccount()
        self._plan = plan
        self._folder = folder
        self._metrics = metrics

    async def ask(self, errands: Sequence[Errand], keep: Keep) -> None:
        """Ask all of them; see `Engine`."""
        async with open_asker(self._plan, self._folder, judging=self.judging, metrics=self._metrics) as asker:
            queue = iter(errands)
            try:
                async with asyncio.TaskGroup() as group:
                    for number in range(min(self._plan.settings.questions_at_once, len(errands))):
                        group.create_task(_work(asker, queue, keep), name=f"ask questions, {number}")
            except ExceptionGroup as failed:
                raise failed.exceptions[0] from failed  # the others were cancelled on its account


async def _work(asker: Asker, queue: Iterator[Errand], keep: Keep) -> None:
    for errand in queue:
        async with aclosing(run_errand(asker, errand)) as records:
            async for record in records:
                keep(record)
