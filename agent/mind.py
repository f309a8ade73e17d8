"""What decides in a run and what guesses, put together as the settings name them.

Invariant: what is opened here is closed here, in reverse order, however the run ends.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from agent.errors import ConfigurationError
from agent.models.call_account import CallAccount
from agent.models.chat import Chat
from agent.models.registry import DRAFT, Models
from agent.predictors.draft_predictor import DraftPredictor
from agent.predictors.embedding import Embedder
from agent.predictors.predictor_choice import Predictors, choose
from agent.predictors.ranker import LinkRanker
from agent.settings import EMBEDDED, LOCAL, Settings, Strategy
from agent.target import Target
from agent.targets.model_target import ModelTarget
from agent.targets.pacing import PacedTarget
from agent.targets.prompt import offered
from agent.targets.reflexion import ReflexionTarget
from agent.targets.structured_target import Schema, StructuredTarget, load_schema
from agent.targets.walk import MAX_PAGES, WalkTarget
from browser.acting.allowance import Allowance


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
    target: Target | None = None,
) -> AsyncIterator[Mind]:
    """Open the target and the predictors for one question.

    Args:
        settings: Which ones.
        question: The question.
        embedder: Remembers the vectors of a site's link texts over several questions; None: a new one.
        schema: The answer's shape; None: that of the settings' file, if any.
        models: Remember how models behave over several questions; None: new ones.
        allowance: What the target may use on the sites, where it may act.
        target: Decides in place of the one that the settings name.

    Raises:
        ConfigurationError: The settings name no usable model.
    """
    async with AsyncExitStack() as stack:
        models = models or _models(settings, stack)
        calls = CallAccount(prices=models.prices.origin)
        ranker = LinkRanker(embedder or Embedder())
        schema = _schema(settings, schema)
        walks = target is None and settings.target_name in (EMBEDDED, LOCAL)
        if target is None and walks:
            target = await _walk(settings, ranker, stack)
        elif target is None:
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
            max_pages=MAX_PAGES if walks else None,
            searching=settings.search is not None,
        )
        yield Mind(target=target, predictors=chosen.predictors, deeper=chosen.deeper, draft=draft, calls=calls)


def _schema(settings: Settings, given: Schema | None) -> Schema | None:
    schema = given or (load_schema(settings.schema_file) if settings.schema_file else None)
    if schema is not None and settings.target_name in (EMBEDDED, LOCAL):
        raise ConfigurationError("an answer by a schema needs a model", hint="Name one with --target.")
    return schema


def _models(settings: Settings, stack: AsyncExitStack) -> Models:
    models = Models(settings)
    stack.push_async_callback(models.aclose)
    return models


def _model_target(settings: Settings, schema: Schema | None, model: Chat, allowance: Allowance) -> Target:
    thinking = ReflexionTarget if settings.strategy is Strategy.REFLEXION else ModelTarget
    target: Target = thinking(
        model,
        acting=settings.act,
        searching=settings.search is not None,
        window_tokens=settings.context_tokens,
        offered=offered(allowance),
    )
    if schema is None:
        return target
    return StructuredTarget(target, model, schema, window_tokens=settings.context_tokens)


def _draft(settings: Settings, question: str, models: Models, calls: CallAccount) -> DraftPredictor | None:
    if settings.draft_name is None:
        return None
    model = models.chat(settings.draft_name, role=DRAFT, listener=calls)
    searching = settings.search is not None
    return DraftPredictor(question, model, max_guesses=settings.max_guesses, searching=searching)


async def _walk(settings: Settings, ranker: LinkRanker, stack: AsyncExitStack) -> Target:
    walk = WalkTarget(ranker, searching=settings.search is not None)
    if settings.target_name == EMBEDDED:
        return walk
    from agent.targets.local_model import open_local_model  # noqa: PLC0415 - needs the extra `local`
    from agent.targets.writer import WriterTarget  # noqa: PLC0415

    model = await stack.enter_async_context(open_local_model(settings.weights))
    return WriterTarget(walk, model, ranker.embedder)
