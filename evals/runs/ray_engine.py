"""Asks the questions of a suite on a Ray cluster.

Invariant: a question's modes are asked by one worker; where it dies, all of them are asked again by another, so that
what is compared was measured on one machine. The journal, the progress and the reports are this process's alone.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent.cluster import Cluster, FanOut, Finished, Seat, Work
from agent.cluster.shares import share_of
from agent.events import Call
from agent.models.call_account import CallAccount
from evals.runs.asking import blank_record, trace_name
from evals.runs.engine import Keep
from evals.runs.equipment import TRACES, open_asker
from evals.runs.errand import Errand, run_errand
from evals.runs.plan import Plan
from evals.runs.record import Record
from evals.suites.suite import Suite


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a worker sends of one question.

    Attributes:
        records: One for each mode that was asked.
        files: What was written beside them, such as traces: contents by path below the folder of the results.
        judging: What happened behind calls to the model that judges since the worker's last findings.
        prices: Which table their costs are from.
    """

    records: tuple[Record, ...]
    files: dict[str, bytes] = field(default_factory=dict)
    judging: tuple[Call, ...] = ()
    prices: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opening:
    """Opens browsers, models and the suite's sites in a worker.

    Attributes:
        plan: What is asked, and how; its suite's questions stay behind, since each comes with its errand.
    """

    plan: Plan

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[Work[Errand, Findings]]:
        plan = self.plan
        if plan.reopen is not None:
            plan = replace(plan, suite=await asyncio.to_thread(plan.reopen))  # a large suite takes seconds
        with tempfile.TemporaryDirectory(prefix="speccache-") as name:
            folder, judging, calls = Path(name), CallAccount(), list[Call]()
            judging.listener = calls.append
            async with open_asker(plan, folder, judging=judging) as asker:

                async def work(errand: Errand) -> Findings:
                    records = tuple([record async for record in run_errand(asker, errand)])
                    judged = tuple(calls)  # those of other questions, too: all are summed up, and none is sent twice
                    calls.clear()
                    files = _traces(folder, records)
                    return Findings(records=records, files=files, judging=judged, prices=judging.prices)

                yield work


class RayEngine:
    """Asks on the workers of a Ray cluster, each with its own pool of browsers and its own sites.

    Args:
        plan: What is asked, and how; rates of requests to models and hosts hold for all workers together.
        folder: Where traces are kept.
        cluster: Where questions are asked.
        seated: Called with each worker that is ready.

    Attributes:
        judging: Counts the calls to the model that judges; those of a worker that died are not known.
    """

    def __init__(
        self, plan: Plan, folder: Path, cluster: Cluster, *, seated: Callable[[Seat], None] = lambda _: None
    ) -> None:
        self.judging = CallAccount()
        self._plan = plan
        self._folder = folder
        self._cluster = cluster
        self._seated = seated

    async def ask(self, errands: Sequence[Errand], keep: Keep) -> None:
        """Ask all of them; see `Engine`."""
        plan = self._plan
        async with self._cluster.joined() as joined:
            sent = replace(
                plan,
                items=(),
                settings=share_of(plan.settings, joined.workers),
                suite=Suite(name=plan.suite.name, items=(), search=plan.suite.search),
            )
            at_once = plan.settings.questions_at_once
            fan_out = FanOut(joined, _Opening(plan=sent), at_once=at_once, seated=self._seated)
            await fan_out.run(errands, lambda finished: self._take(finished, keep))

    def _take(self, finished: Finished[Errand, Findings], keep: Keep) -> None:
        findings = finished.result or Findings(records=_lost(self._plan, finished.task, finished.lost))
        self.judging.prices = findings.prices or self.judging.prices
        for call in findings.judging:
            self.judging(call)
        for record in findings.records:
            keep(record)
        for path, content in findings.files.items():
            (self._folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self._folder / path).write_bytes(content)


def _lost(plan: Plan, errand: Errand, why: str) -> tuple[Record, ...]:
    known = {record.mode: record.order for record in errand.known}
    missing = [mode for mode in plan.order(errand.item) if mode not in known]
    return tuple(
        replace(blank_record(plan.suite.name, errand.item, mode, order=order), broken=why)
        for order, mode in enumerate(missing, 1 + max(known.values(), default=0))
    )


def _traces(folder: Path, records: Sequence[Record]) -> dict[str, bytes]:
    """Take away the traces that were written for records."""
    files = {}
    for record in records:
        name = f"{TRACES}/{trace_name(record.item, record.mode)}"
        if (folder / name).exists():
            files[name] = (folder / name).read_bytes()
            (folder / name).unlink()
    return files
