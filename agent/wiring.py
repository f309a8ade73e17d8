"""Puts the parts together: the only place that knows which target, predictors and environment a run has.

Invariant: what is opened here is closed here, in reverse order, however the run ends.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from yarl import URL

from agent.draft_predictor import DraftPredictor
from agent.embedding import Embedder
from agent.errors import ConfigurationError
from agent.events import RunEvent, RunListener
from agent.loop import Loop
from agent.model_target import ModelTarget
from agent.outcome import Outcome
from agent.pacing import PacedTarget
from agent.predictor_choice import Predictors, choose
from agent.rank_predictor import PRIORS
from agent.ranker import LinkRanker
from agent.reflexion import ReflexionTarget
from agent.settings import EMBEDDED, LOCAL, PredictorName, Settings, Strategy
from agent.target import Target, Usage
from agent.walk import MAX_PAGES, WalkTarget
from browser.action import Action, Visit
from browser.address import check_address
from browser.environment import WebEnvironment
from browser.observation import Observation
from browser.page import LoadOptions
from browser.pool import BrowserPool, PoolOptions
from browser.process import LaunchOptions
from speccache.account import Account
from speccache.environment import Environment
from speccache.events import Event
from speccache.options import SpeculationOptions
from speccache.second_level import SecondLevel
from speccache.speculative_environment import SpeculativeEnvironment

if TYPE_CHECKING:
    from agent.model import ChatModel
    from browser.shelf import Shelf


@dataclass(frozen=True, slots=True, kw_only=True)
class Mind:
    """What decides in a run, and what guesses.

    Attributes:
        target: Decides.
        predictors: Guess ahead; empty with speculation off.
        deeper: Which of them, or of their like, also guess one level deeper.
        draft: The draft model among them; None where there is none.
    """

    target: Target
    predictors: Predictors = ()
    deeper: Predictors = ()
    draft: DraftPredictor | None = None


def open_pool(settings: Settings) -> BrowserPool:
    """Return the pool the settings ask for, to be entered with `async with`."""
    guesses = settings.speculation and settings.predictor is not PredictorName.NONE
    slots = settings.pool_size if guesses else 0
    return BrowserPool(
        PoolOptions(
            speculation_slots=slots,
            allowed_domains=settings.allow_domains,
            denied_domains=settings.deny_domains,
            launch=LaunchOptions(executable=settings.browser),
        )
    )


@asynccontextmanager
async def open_mind(settings: Settings, question: str, *, embedder: Embedder | None = None) -> AsyncIterator[Mind]:
    """Open the target and the predictors for one question.

    Args:
        settings: Which ones.
        question: The question.
        embedder: Remembers the vectors of a site's link texts over several questions; None: a new one.

    Raises:
        ConfigurationError: The settings name no usable model.
    """
    async with AsyncExitStack() as stack:
        ranker = LinkRanker(embedder or Embedder())
        if settings.schema_file is not None and settings.target_name in (EMBEDDED, LOCAL):
            raise ConfigurationError("an answer by a schema needs a model", hint="Name one with --target.")
        target: Target = WalkTarget(ranker)
        if settings.target_name == LOCAL:
            target = await _local_target(target, settings, ranker, stack)
        elif settings.target_name != EMBEDDED:
            target = _model_target(settings, stack)
        if settings.think:
            target = PacedTarget(target, think_seconds=settings.think)
        if not settings.speculation:
            yield Mind(target=target)
            return
        draft = _draft(settings, question, stack)
        chosen = choose(
            settings.predictor,
            question,
            ranker=ranker,
            draft=draft,
            max_guesses=settings.max_guesses,
            max_pages=MAX_PAGES if settings.target_name in (EMBEDDED, LOCAL) else None,
        )
        yield Mind(target=target, predictors=chosen.predictors, deeper=chosen.deeper, draft=draft)


def _model_target(settings: Settings, stack: AsyncExitStack) -> Target:
    model = _model(settings, settings.target_name, stack)
    thinking = ReflexionTarget if settings.strategy is Strategy.REFLEXION else ModelTarget
    target: Target = thinking(model, acting=settings.act, window_tokens=settings.context_tokens)
    if settings.schema_file is None:
        return target
    from agent.structured_target import StructuredTarget, load_schema  # noqa: PLC0415 - few runs ask for it

    schema = load_schema(settings.schema_file)
    return StructuredTarget(target, model, schema, window_tokens=settings.context_tokens)


def _draft(settings: Settings, question: str, stack: AsyncExitStack) -> DraftPredictor | None:
    if settings.draft_name is None:
        return None
    model = _model(settings, settings.draft_name, stack)
    return DraftPredictor(question, model, max_guesses=settings.max_guesses)


async def _local_target(walk: Target, settings: Settings, ranker: LinkRanker, stack: AsyncExitStack) -> Target:
    from agent.local_model import open_local_model  # noqa: PLC0415 - needs the extra `local`
    from agent.writer import WriterTarget  # noqa: PLC0415

    model = await stack.enter_async_context(open_local_model(settings.weights))
    return WriterTarget(walk, model, ranker.embedder)


def _model(settings: Settings, name: str, stack: AsyncExitStack) -> ChatModel:
    from agent.model import ChatModel  # noqa: PLC0415 - its client takes as long to import as all the rest together

    model = ChatModel(
        name,
        base_url=settings.base_url,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        timeout_seconds=settings.model_seconds,
        max_retries=settings.model_retries,
        calls_per_minute=settings.model_calls,
    )
    stack.push_async_callback(model.aclose)
    return model


def web_environment(settings: Settings, pool: BrowserPool, url: str) -> WebEnvironment:
    """Return the web as seen by a run that starts at the URL: its host counts as named by the user."""
    return WebEnvironment(
        pool,
        named_hosts=named_hosts(settings, url),
        part_chars=settings.part_chars,
        load_options=LoadOptions(
            navigate_timeout_seconds=settings.load_seconds, settle_cap_seconds=settings.settle_seconds
        ),
    )


def named_hosts(settings: Settings, url: str) -> frozenset[str]:
    """Return the hosts that the user named for a run that starts at the URL."""
    return frozenset({host_of(url), *settings.allow_hosts})


def host_of(url: str) -> str:
    """Return a URL's host; empty where it has none or is none."""
    try:
        return URL(url).host or ""
    except ValueError:
        return ""


def checked(url: str) -> str:
    """Complete an address as a person types it (without a scheme it is https), and check that it may be opened.

    Raises:
        AddressRefused: It is no web address.
    """
    has_scheme = "://" in url or url.partition(":")[0] in ("about", "data", "javascript", "mailto", "view-source")
    address = url if has_scheme else f"https://{url}"
    check_address(address, named_hosts={host_of(address)})
    return address


async def ask(
    question: str,
    url: str,
    *,
    settings: Settings,
    pool: BrowserPool,
    listeners: Sequence[RunListener] = (),
    embedder: Embedder | None = None,
) -> Outcome:
    """Answer one question, beginning at the URL, with the target and predictors the settings name.

    Raises:
        ConfigurationError: The settings name no usable model.
    """
    async with open_mind(settings, question, embedder=embedder) as mind:
        return await answer(question, url, mind=mind, settings=settings, pool=pool, listeners=listeners)


async def answer(
    question: str,
    url: str,
    *,
    mind: Mind,
    settings: Settings,
    pool: BrowserPool,
    listeners: Sequence[RunListener] = (),
) -> Outcome:
    """Answer one question with a given mind."""
    account = Account()

    def tell(event: RunEvent) -> None:
        if isinstance(event, Event):
            account(event)
        for listener in listeners:
            listener(event)

    web = web_environment(settings, pool, url)
    environment: Environment[Action, Observation] = web
    async with AsyncExitStack() as stack:
        if mind.predictors:
            pool.warm()
            shelf = await _shelf(web, url, pool, settings, stack)
            environment = _speculative(web, pool, mind, settings, tell, shelf)
        stack.push_async_callback(environment.aclose)
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
        draft_usage=mind.draft.usage if mind.draft else Usage(),
    )


async def _shelf(
    web: WebEnvironment, url: str, pool: BrowserPool, settings: Settings, stack: AsyncExitStack
) -> Shelf | None:
    if settings.shelf is None:
        return None
    from browser.shelf import Shelf  # noqa: PLC0415 - few runs have one

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
        options=SpeculationOptions(max_guesses=settings.max_guesses, max_running=settings.pool_size),
        priors=PRIORS,
        gate=web.refusal,
        pressure=pool.pressure.reason,
        urgent=pool.urgent,
        listener=listener,
        size_of=lambda observation: observation.document.size_bytes,
        lifetime_of=web.lifetime,
        second_level=second_level,
    )
    if mind.draft is not None:
        mind.draft.knows = environment.knows
    return environment
