"""Puts the parts together: the only place that knows which target, predictors and environment a run has.

Invariant: what is opened here is closed here, in reverse order, however the run ends.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent.errors import ConfigurationError
from agent.events import RunEvent, RunListener
from agent.keeper import Keeper
from agent.loop import Loop
from agent.models.call_account import CallAccount
from agent.models.chat import Chat
from agent.models.registry import DRAFT, Models
from agent.outcome import Outcome
from agent.predictors.draft_predictor import DraftPredictor
from agent.predictors.embedding import Embedder
from agent.predictors.predictor_choice import Predictors, choose
from agent.predictors.rank_predictor import PRIORS
from agent.predictors.ranker import LinkRanker
from agent.settings import EMBEDDED, LOCAL, Settings, Strategy
from agent.target import Target, Usage
from agent.targets.model_target import ModelTarget
from agent.targets.pacing import PacedTarget
from agent.targets.prompt import offered
from agent.targets.reflexion import ReflexionTarget
from agent.targets.structured_target import Schema, StructuredTarget, load_schema
from agent.targets.walk import MAX_PAGES, WalkTarget
from agent.web import checked, host_of, max_running, named_hosts, open_pool, web_environment
from browser.acting.allowance import Allowance
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Mind:
    """What decides in a run, and what guesses.

    Attributes:
        target: Decides.
        predictors: Guess ahead; empty with speculation off.
        deeper: Which of them, or of their like, also guess one level deeper.
        draft: The draft model among them; None where there is none.
        calls: Counts the calls to the models among them.
    """

    target: Target
    predictors: Predictors = ()
    deeper: Predictors = ()
    draft: DraftPredictor | None = None
    calls: CallAccount = field(default_factory=CallAccount)


@asynccontextmanager
async def open_mind(
    settings: Settings,
    question: str,
    *,
    embedder: Embedder | None = None,
    schema: Schema | None = None,
    models: Models | None = None,
    allowance: Allowance = Allowance(),
) -> AsyncIterator[Mind]:
    """Open the target and the predictors for one question.

    Args:
        settings: Which ones.
        question: The question.
        embedder: Remembers the vectors of a site's link texts over several questions; None: a new one.
        schema: The answer's shape; None: that of the settings' file, if any.
        models: Remember how models behave over several questions; None: new ones.
        allowance: What the target may use on the sites, where it may act.

    Raises:
        ConfigurationError: The settings name no usable model.
    """
    async with AsyncExitStack() as stack:
        models = models or _models(settings, stack)
        calls = CallAccount(prices=models.prices.origin)
        ranker = LinkRanker(embedder or Embedder())
        schema = schema or (load_schema(settings.schema_file) if settings.schema_file else None)
        if schema is not None and settings.target_name in (EMBEDDED, LOCAL):
            raise ConfigurationError("an answer by a schema needs a model", hint="Name one with --target.")
        target: Target = WalkTarget(ranker)
        if settings.target_name == LOCAL:
            target = await _local_target(target, settings, ranker, stack)
        elif settings.target_name != EMBEDDED:
            target = _model_target(settings, schema, models.target(calls), allowance)
        if settings.think:
            target = PacedTarget(target, think_seconds=settings.think)
        if not settings.speculation:
            yield Mind(target=target, calls=calls)
            return
        draft = _draft(settings, question, models, calls)
        chosen = choose(
            settings.predictor,
            question,
            ranker=ranker,
            draft=draft,
            max_guesses=settings.max_guesses,
            max_pages=MAX_PAGES if settings.target_name in (EMBEDDED, LOCAL) else None,
        )
        yield Mind(target=target, predictors=chosen.predictors, deeper=chosen.deeper, draft=draft, calls=calls)


def _models(settings: Settings, stack: AsyncExitStack) -> Models:
    models = Models(settings)
    stack.push_async_callback(models.aclose)
    return models


def _model_target(settings: Settings, schema: Schema | None, model: Chat, allowance: Allowance) -> Target:
    thinking = ReflexionTarget if settings.strategy is Strategy.REFLEXION else ModelTarget
    target: Target = thinking(
        model, acting=settings.act, window_tokens=settings.context_tokens, offered=offered(allowance)
    )
    if schema is None:
        return target
    return StructuredTarget(target, model, schema, window_tokens=settings.context_tokens)


def _draft(settings: Settings, question: str, models: Models, calls: CallAccount) -> DraftPredictor | None:
    if settings.draft_name is None:
        return None
    model = models.chat(settings.draft_name, role=DRAFT, listener=calls)
    return DraftPredictor(question, model, max_guesses=settings.max_guesses)


async def _local_target(walk: Target, settings: Settings, ranker: LinkRanker, stack: AsyncExitStack) -> Target:
    from agent.targets.local_model import open_local_model  # noqa: PLC0415 - needs the extra `local`
    from agent.targets.writer import WriterTarget  # noqa: PLC0415

    model = await stack.enter_async_context(open_local_model(settings.weights))
    return WriterTarget(walk, model, ranker.embedder)


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
