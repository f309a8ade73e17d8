"""A suite asked from beginning to end: what was asked for, what was found, and the reports of it.

Invariant: what was found is kept as it is found and reported however the run ends; the same folder goes on with it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from agent.cluster import Seat
from agent.console import err, fail, tell
from agent.errors import ConfigurationError
from agent.logs import is_structured, set_up_log
from agent.telemetry.metrics_server import serve_metrics
from agent.telemetry.watch import new_metrics
from evals.report import print_report, report_json, write_html
from evals.runs.conditions import Conditions
from evals.runs.engine import Engine, LocalEngine
from evals.runs.errors import RunsUnusable
from evals.runs.journal import Journal
from evals.runs.plan import Plan
from evals.runs.progress_bar import ProgressBar
from evals.runs.ray_engine import RayEngine
from evals.runs.record import Record
from evals.runs.request import Request
from evals.runs.runner import Runner
from evals.runs.whole_file import write_whole

if TYPE_CHECKING:
    from agent.telemetry.prometheus import Metrics

REPORT = "report.json"
PAGE = "report.html"


class Evaluation:
    """Asks a suite and reports.

    Args:
        request: What is asked, and how.
        out: The folder of the results; None: a new one, named after the time and the suite.
        as_json: Whether the report is printed as JSON.
        verbose: Whether tracebacks are shown.
        quiet: Whether nothing but the report and errors is shown.
        metrics: Where figures for Prometheus are served meanwhile, as `[HOST:]PORT`; None: nowhere.

    Attributes:
        records: What was found, of what was asked for.
        folder: Where it is kept.
    """

    def __init__(
        self,
        request: Request,
        *,
        out: Path | None = None,
        as_json: bool = False,
        verbose: bool = False,
        quiet: bool = False,
        metrics: str | None = None,
    ) -> None:
        self.verbose = verbose
        self.records: Sequence[Record] = ()
        self._request = request
        self.folder = out or default_folder(request.suite)
        self._as_json = as_json
        self._quiet = quiet
        self._metrics = metrics

    @cached_property
    def plan(self) -> Plan:
        """What is done; reading it checks the request.

        Raises:
            ConfigurationError: It cannot be done.
        """
        return self._request.plan()

    def narrow(self, only: Iterable[tuple[str, str]]) -> None:
        """Ask only these questions in these modes; the report is over all that was found of the plan, all the same."""
        self.plan = replace(self.plan, only=frozenset(only))

    @property
    def broken(self) -> tuple[Record, ...]:
        """What could not be asked."""
        return tuple(record for record in self.records if record.broken)

    @property
    def has_figures(self) -> bool:
        """Whether anything can be said of any mode: not every question ended in an error."""
        return any(record.status != "error" for record in self.records)

    @asynccontextmanager
    async def running(self, *, quiet: bool = False) -> AsyncIterator[Runner]:
        """Ask while the block runs; what was found by its end is in `records`.

        Raises:
            ConfigurationError: The request cannot be done, or results cannot be written.
        """
        plan = self.plan
        async with AsyncExitStack() as stack:
            journal = stack.enter_context(Journal(self.folder, plan.conditions))
            stack.callback(self._collect, journal)
            set_up_log(plan.settings)
            bar = stack.enter_context(ProgressBar(err, is_quiet=quiet or self._quiet or is_structured()))
            engine = self._engine(await self._served_metrics(stack))
            runner = await stack.enter_async_context(Runner(plan, journal, listener=bar, engine=engine))
            yield runner
            if judging := str(runner.judging):
                tell(f"judge: {judging}")

    async def _served_metrics(self, stack: AsyncExitStack) -> Metrics | None:
        if self._metrics is None:
            return None
        if self.plan.cluster is not None:
            raise ConfigurationError(
                "figures for Prometheus are served by the process that asks, and a cluster has many",
                hint="Leave --metrics out, or have the workers send OpenTelemetry's with --otel.",
            )
        metrics = new_metrics()
        address = await stack.enter_async_context(serve_metrics(metrics, self._metrics))
        tell(f"metrics: {address}")
        return metrics

    def _engine(self, metrics: Metrics | None) -> Engine:
        if self.plan.cluster is None:
            return LocalEngine(self.plan, self.folder, metrics=metrics)
        return RayEngine(self.plan, self.folder, self.plan.cluster, seated=self._tell_of)

    def _tell_of(self, seat: Seat) -> None:
        if not self._quiet:
            tell(f"a worker is ready on {seat.host}, process {seat.pid}")

    async def measure(self) -> None:
        """Ask everything."""
        async with self.running() as runner:
            await runner.finished()

    def _collect(self, journal: Journal) -> None:
        asked = {(item.id, str(mode)) for item in self.plan.items for mode in self.plan.modes}
        self.records = [record for record in journal.records if (record.item, record.mode) in asked]
        if self.records and len(self.records) < len(asked):
            tell(f"{len(self.records)} of {len(asked)} runs are done; go on with --out {self.folder}")

    def publish(self, console: Console | None = None) -> None:
        """Print the report and write it into the folder; nothing where nothing was found."""
        if not self.records:
            return
        conditions = self.plan.conditions
        report = json.dumps(report_json(self.records, conditions), ensure_ascii=False, indent=2)
        unwritten = self._write(report + "\n", conditions)
        self._print(report, conditions, console)
        for record in self.broken:
            tell(f"not asked: {record.item}, mode {record.mode}: {record.broken}")
        if unwritten is not None:
            fail(RunsUnusable.unwritable(self.folder, unwritten))
        if not self._quiet:
            tell(f"results: {self.folder}; to look at: {self.folder / PAGE}")

    def _write(self, report: str, conditions: Conditions) -> OSError | None:
        """Write the reports, whole or not at all; return what was in the way: they can be printed all the same."""
        try:
            write_whole(self.folder / REPORT, report)
            write_html(self.folder / PAGE, self.records, conditions)
        except OSError as error:
            return error
        return None

    def _print(self, report: str, conditions: Conditions, console: Console | None) -> None:
        try:
            if self._as_json:
                typer.echo(report)
            else:
                print_report(self.records, conditions, console or Console(highlight=False, soft_wrap=True))
        except BrokenPipeError:  # whoever reads has seen enough; the command line ends quietly
            raise
        except OSError as error:
            hint = f"It is in {self.folder}, as {REPORT} and {PAGE}."
            fail(RunsUnusable(f"the report cannot be printed: {error.strerror or error}", hint=hint))


def default_folder(suite: str, *, now: Callable[[], datetime] = datetime.now) -> Path:
    """Name the folder of a run after the time and the suite."""
    return Path("runs") / f"{now():%Y%m%d-%H%M%S}-eval-{Path(suite).stem}"
