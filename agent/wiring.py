"""Puts the parts together: the only place that knows which target, predictors and environment a run has.

Invariant: what is opened here is closed here, in reverse order, however the run ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from agent.events import RunEvent, RunListener
from agent.keeper import Keeper
from agent.loop import Loop
from agent.mind import Mind, open_mind
from agent.models.registry import Models
from agent.outcome import Outcome
from agent.predictors.embedding import Embedder
from agent.predictors.rank_predictor import PRIORS
from agent.settings import Settings
from agent.target import Usage
from agent.targets.structured_target import Schema
from agent.web import checked, host_of, max_running, named_hosts, open_pool, web_environment
from browser.action import Action, Visit
from browser.environment import WebEnvironment
from browser.observation import Observation
from browser.pool import BrowserPool
from speccache.account import Account
from speccache.environment import Environment
from speccache.events import Event
from speccache.options import SpeculationOptions
from speccache.second_level import SecondLevel
from speccache.speculative_environment import SpeculativeEnvironment

__all__ = ["Mind", "answer", "ask", "checked", "host_of", "open_mind", "open_pool", "web_environment"]

if TYPE_CHECKING:
    from browser.shelf.shelf import Shelf


async def ask(
    question: str,
    url: str,
    *,
    settings: Settings,
    pool: BrowserPool,
    listeners: Sequence[RunListener] = (),
    embedder: Embedder | None = None,
    schema: Schema | None = None,
    models: Models | None = None,
    keeper: Keeper | None = None,
) -> Outcome:
    """Answer one question, beginning at the URL, with the target and predictors the settings name.

    Args:
        question: The question; a secret in it is replaced by its name.
        url: Where to start.
        settings: How.
        pool: Where pages are loaded.
        listeners: Called with every event.
        embedder: See `open_mind`, as for `schema` and `models`.
        schema: The answer's shape.
        models: Remember how models behave.
        keeper: Has the user's own things open; None: they are opened for this question.

    Raises:
        ConfigurationError: The settings name no usable model, or a secret has no value.
        SessionUnusable: A saved session cannot be used.
    """
    async with AsyncExitStack() as stack:
        keeper = keeper or stack.enter_context(Keeper(settings))
        visitor = keeper.visitor(url)
        question = visitor.allowance.masked(question)
        mind = await stack.enter_async_context(
            open_mind(settings, question, embedder=embedder, schema=schema, models=models, allowance=visitor.allowance)
        )
        web = web_environment(settings, pool, url, visitor=visitor)
        return await _answer(question, url, mind, settings, pool, listeners, web=web, keeper=keeper)


async def answer(
    question: str,
    url: str,
    *,
    mind: Mind,
    settings: Settings,
    pool: BrowserPool,
    listeners: Sequence[RunListener] = (),
) -> Outcome:
    """Answer one question with a given mind, and nothing of the user's own."""
    web = web_environment(settings, pool, url)
    return await _answer(question, url, mind, settings, pool, listeners, web=web)


async def _answer(
    question: str,
    url: str,
    mind: Mind,
    settings: Settings,
    pool: BrowserPool,
    listeners: Sequence[RunListener],
    *,
    web: WebEnvironment,
    keeper: Keeper | None = None,
) -> Outcome:
    account = Account()

    def tell(event: RunEvent) -> None:
        if isinstance(event, Event):
            account(event)
        for listener in listeners:
            listener(event)

    mind.calls.listener = tell
    environment: Environment[Action, Observation] = web
    async with AsyncExitStack() as stack:
        stack.push_async_callback(web.aclose)
        if mind.predictors:
            pool.warm()
            shelf = await _shelf(web, url, pool, settings, stack)
            environment = _speculative(web, pool, mind, settings, tell, shelf)
            stack.push_async_callback(environment.aclose)
        if keeper is not None:
            stack.push_async_callback(keeper.save, web)
        outcome = await Loop(environment, mind.target, max_turns=settings.max_turns, listener=tell).run(
            question, Visit(url)
        )
    return replace(
        outcome,
        shares=replace(
            outcome.shares,
            hidden_seconds=account.hidden_seconds,
            draft_seconds=mind.draft.seconds if mind.draft else 0.0,
        ),
        account=account,
        requests=mind.calls,
        draft_usage=mind.draft.usage if mind.draft else Usage(),
    )


async def _shelf(
    web: WebEnvironment, url: str, pool: BrowserPool, settings: Settings, stack: AsyncExitStack
) -> Shelf | None:
    if settings.shelf is None:
        return None
    from browser.shelf.shelf import Shelf  # noqa: PLC0415 - few runs have one

    # A first page from the shelf asks its server for nothing, but guesses from it wait for the site's rules.
    pool.courtesy.prepare(url)
    shelf = Shelf(
        settings.shelf, name_of=web.key, part_chars=settings.part_chars, named_hosts=named_hosts(settings, url)
    )
    return await stack.enter_async_context(shelf)


def _speculative(
    web: WebEnvironment,
    pool: BrowserPool,
    mind: Mind,
    settings: Settings,
    listener: RunListener,
    second_level: SecondLevel[Observation] | None,
) -> SpeculativeEnvironment[Action, Observation]:
    environment = SpeculativeEnvironment(
        web,
        predictors=mind.predictors,
        deeper=mind.deeper,
        options=SpeculationOptions(max_guesses=settings.max_guesses, max_running=max_running(settings)),
        priors=PRIORS,
        gate=web.refusal,
        pressure=pool.pressure.reason,
        urgent=web.urgent,
        listener=listener,
        size_of=lambda observation: observation.document.size_bytes,
        lifetime_of=web.lifetime,
        second_level=second_level,
    )
    if mind.draft is not None:
        mind.draft.knows = environment.knows
    return environment
