"""What questions of a plan are asked with: browsers, models, and the suite's sites.

Invariant: all of it is opened before the first question and closed after the last, in one process; what takes time only
once, such as loading the ranker's model, is part of no run.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agent.kept_pages import open_cache_link
from agent.models.call_account import CallAccount
from agent.models.registry import Models
from agent.predictors.embedding import Embedder
from agent.telemetry.watch import open_watch
from agent.wiring import open_pool
from evals.runs.asking import Asker
from evals.runs.plan import Plan
from evals.scoring import Judge, VerdictCache

if TYPE_CHECKING:
    from agent.telemetry.prometheus import Metrics

_VERDICTS = "verdicts.sqlite"
TRACES = "traces"
"""The folder of traces, below that of the results."""


@asynccontextmanager
async def open_asker(
    plan: Plan, folder: Path, *, judging: CallAccount, metrics: Metrics | None = None
) -> AsyncIterator[Asker]:
    """Open what a plan's questions are asked with.

    Args:
        plan: The plan.
        folder: Where verdicts and traces are kept.
        judging: Counts the calls to the model that judges.
        metrics: Figures for Prometheus; None: nobody reads them.

    Raises:
        ConfigurationError: The settings name no usable model.
        BrowserError: There is no browser, or it does not start.
    """
    async with AsyncExitStack() as stack:
        watch = stack.enter_context(open_watch(plan.settings, metrics=metrics))
        models = Models(plan.settings)
        stack.push_async_callback(models.aclose)
        addresses: Mapping[str, str] = {}
        if plan.suite.serve is not None:
            addresses = await stack.enter_async_context(plan.suite.serve(plan.time_scale or 0.0))
        pool = await stack.enter_async_context(open_pool(plan.settings))
        watch.pool_opened(pool)
        link = await stack.enter_async_context(open_cache_link(plan.settings))
        embedder = Embedder()
        await embedder.embed(["warm"])
        yield Asker(
            plan=plan,
            pool=pool,
            addresses=addresses,
            models=models,
            embedder=embedder,
            judge=_judge(plan, models, folder, judging),
            traces=folder / TRACES if plan.has_traces else None,
            link=link,
            watch=watch,
        )


def _judge(plan: Plan, models: Models, folder: Path, judging: CallAccount) -> Judge | None:
    if plan.judge is None:
        return None
    judging.prices = models.prices.origin
    return Judge(models.chat(plan.judge, role="judge", listener=judging), VerdictCache(folder / _VERDICTS))
