"""Puts the parts together: the only place that knows which target, predictors and environment a run has.

Invariant: what is opened here is closed here, in reverse order, however the run ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from agent.errors import ConfigurationError
from agent.events import RunEvent, RunListener
from agent.keeper import Keeper
from agent.kept_pages import PageLevel, open_page_level
from agent.loop import Loop
from agent.mind import Mind, open_mind
from agent.models.registry import Models
from agent.notices import Notices
from agent.outcome import Outcome
from agent.predictors.embedding import Embedder
from agent.settings import Settings
from agent.speculation import speculative
from agent.target import Usage
from agent.targets.structured_target import Schema
from agent.web import checked, host_of, open_pool, web_environment
from browser.action import Action, Search, Visit
from browser.environment import WebEnvironment
from browser.observation import Observation
from browser.pool import BrowserPool
from speccache.account import Account
from speccache.environment import Environment
from speccache.events import Event
from speccache.speculative_environment import SpeculativeEnvironment

__all__ = ["Mind", "answer", "ask", "checked", "host_of", "open_mind", "open_pool", "web_environment"]

if TYPE_CHECKING:
    from browser.shared_cache.link import CacheLink


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
    link: CacheLink | None = None,
) -> Outcome:
    """Answer one question, beginning at the URL, with the target and predictors the settings name.

    Args:
        question: The question; a secret in it is replaced by its name.
        url: Where to start; empty: with a search for the question.
        settings: How.
        pool: Where pages are loaded.
        listeners: Called with every event.
        embedder: See `open_mind`, as for `schema` and `models`.
        schema: The answer's shape.
        models: Remember how models behave.
        keeper: Has the user's own things open; None: they are opened for this question.
        link: The connection to the shared cache; None: it is opened for this question, where the settings name one.

    Raises:
        ConfigurationError: The settings name no usable model, a secret has no value, or there is nowhere to start.
        SessionUnusable: A saved session cannot be used.
    """
    async with AsyncExitStack() as stack:
        keeper = keeper or stack.enter_context(Keeper(settings))
        visitor = keeper.visitor(url)
        question = visitor.allowance.masked(question)
        start = first_action(question, url, settings)
        mind = await stack.enter_async_context(
            open_mind(settings, question, embedder=embedder, schema=schema, models=models, allowance=visitor.allowance)
        )
        web = web_environment(settings, pool, url, visitor=visitor)
        return await _answer(question, start, mind, settings, pool, listeners, web=web, keeper=keeper, link=link)


async def answer(
    question: str,
    url: str,
    *,
    mind: Mind,
    settings: Settings,
    pool: BrowserPool,
    listeners: Sequence[RunListener] = (),
    link: CacheLink | None = None,
) -> Outcome:
    """Answer one question with a given mind, and nothing of the user's own; without a URL it begins with a search.

    Raises:
        ConfigurationError: There is neither a URL nor a search engine to start with.
    """
    start = first_action(question, url, settings)
    web = web_environment(settings, pool, url)
    return await _answer(question, start, mind, settings, pool, listeners, web=web, link=link)


def first_action(question: str, url: str, settings: Settings) -> Visit | Search:
    """Return what a run begins with: a visit, or a search for the question where there is no URL.

    Raises:
        ConfigurationError: There is no search engine either.
    """
    if url:
        return Visit(url)
    if settings.search is None:
        raise ConfigurationError(
            "there is nowhere to start: neither a page nor a search engine was named",
            hint="Name a page with --url URL, or an engine with --search ENGINE.",
        )
    return Search(question)


async def _answer(
    question: str,
    start: Visit | Search,
    mind: Mind,
    settings: Settings,
    pool: BrowserPool,
    listeners: Sequence[RunListener],
    *,
    web: WebEnvironment,
    keeper: Keeper | None = None,
    link: CacheLink | None = None,
) -> Outcome:
    account = Account()

    def tell_all(event: RunEvent) -> None:
        if isinstance(event, Event):
            account(event)
        for listener in listeners:
            listener(event)

    tell = Notices(tell_all)
    mind.calls.listener = tell
    environment: Environment[Action, Observation] = web
    async with AsyncExitStack() as stack:
        stack.push_async_callback(web.aclose)
        if mind.predictors:
            pool.warm()
            level = await stack.enter_async_context(open_page_level(settings, web, link=link, listener=tell.notice))
            if level is not None:
                # A first page from there asks its server for nothing, but guesses from it wait for the site's rules.
                pool.courtesy.prepare(web.address(start) or "")
            environment = _speculative(web, pool, mind, settings, tell, level)
            stack.push_async_callback(environment.aclose)
        if keeper is not None:
            stack.push_async_callback(keeper.save, web)
        loop = Loop(environment, mind.target, max_turns=settings.max_turns, listener=tell)
        outcome = await loop.run(question, start)
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
        notices=tuple(tell.texts),
    )


def _speculative(
    web: WebEnvironment,
    pool: BrowserPool,
    mind: Mind,
    settings: Settings,
    listener: RunListener,
    level: PageLevel | None,
) -> SpeculativeEnvironment[Action, Observation]:
    environment = speculative(
        web,
        pool,
        settings,
        predictors=mind.predictors,
        deeper=mind.deeper,
        listener=listener,
        second_level=level,
    )
    if mind.draft is not None:
        mind.draft.knows = environment.knows
    return environment
