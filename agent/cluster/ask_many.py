"""Many questions on a cluster, from Python.

Invariant: every question gives an outcome, in the order of the questions; one that no worker could finish says so.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from agent.agent import Agent, Question
from agent.cluster.cluster import Cluster
from agent.cluster.errors import WorkerLost
from agent.cluster.fan_out import FanOut, Finished
from agent.cluster.opening import Work
from agent.cluster.shares import share_of
from agent.errors import ConfigurationError
from agent.outcome import Outcome
from agent.settings import Settings, load_settings
from agent.wiring import checked


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    place: int
    question: Question


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opening:
    """Opens an agent in a worker."""

    settings: Settings

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[Work[_Asked, Outcome]]:
        async with Agent.opened(self.settings) as agent:

            async def work(asked: _Asked) -> Outcome:
                return await agent.ask(asked.question.text, url=asked.question.url)

            yield work


async def ask_many(
    questions: Iterable[Question],
    /,
    *,
    cluster: Cluster = Cluster(),
    concurrency: int = 4,
    listener: Callable[[Question, Outcome], None] = lambda _question, _outcome: None,
    settings: Settings | None = None,
    **given: Any,
) -> list[Outcome]:
    """Answer questions on the machines of a cluster, each worker with its own pool of browsers.

    Args:
        questions: What you want to know, and where to start.
        cluster: Where.
        concurrency: How many are under way at once on one worker.
        listener: Called with each question that ended, in the order in which they do.
        settings: How the agents work, as in `Agent.open()`; limits on models and hosts hold for all workers together.
        given: Single settings by name, before what those say.

    Returns:
        Their outcomes, in the order of the questions. A question whose workers died again and again has an error.

    Cancellation: all runs end, and the workers close their browsers.

    Raises:
        ClusterUnusable: The cluster cannot be joined, or no worker of it can begin.
        ConfigurationError: As `Agent.ask()`; or a session would have to be in several processes.
        AddressRefused: As `Agent.ask()`, before anything is asked.
    """
    chosen = load_settings(**(settings.model_dump(exclude_none=True) | given if settings else given))
    _refuse_kept_sessions(chosen)
    asked = [
        _Asked(place=place, question=replace(each, url=checked(each.url) if each.url else None))
        for place, each in enumerate(questions)
    ]
    outcomes: dict[int, Outcome] = {}

    def keep(finished: Finished[_Asked, Outcome]) -> None:
        outcome = finished.result or _lost(finished.lost)
        outcomes[finished.task.place] = outcome
        listener(finished.task.question, outcome)

    async with cluster.joined() as joined:
        opening = _Opening(settings=share_of(chosen, joined.workers))
        await FanOut(joined, opening, at_once=concurrency).run(asked, keep)
    return [outcomes[each.place] for each in asked]


def _lost(why: str) -> Outcome:
    return Outcome(status="error", reason=why, error=WorkerLost(why))


def _refuse_kept_sessions(settings: Settings) -> None:
    if settings.profile is not None or settings.save_storage_state is not None:
        raise ConfigurationError(
            "a session that is kept can be used by one process at a time, not by the workers of a cluster",
            hint="Begin with a storage_state, which is only read.",
        )
