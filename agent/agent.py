"""The agent as a library: one browser pool, any number of questions.

Invariant: what `open` opens is closed when its block ends, however it ends; a question that fails gives an outcome that
says why, and touches no other question.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from agent.errors import ConfigurationError
from agent.events import RunEvent, RunListener
from agent.keeper import Keeper
from agent.kept_pages import open_cache_link
from agent.models.registry import Models
from agent.outcome import Outcome
from agent.predictors.embedding import Embedder
from agent.settings import Settings, load_settings
from agent.targets.structured_target import Schema
from agent.wiring import ask, checked, open_pool
from browser.pool import BrowserPool

if TYPE_CHECKING:
    from browser.shared_cache.link import CacheLink


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something to find out.

    Attributes:
        text: The question.
        url: Where to start; https:// is added where no scheme is given. None: with a search.
    """

    text: str
    url: str | None = None


class Run:
    """One question under way: its events as they happen, then its outcome.

    Iterate over it to follow the run; `await run.outcome()` gives what came of it, iterated over or not.
    """

    def __init__(self) -> None:
        self._events: asyncio.Queue[RunEvent | None] = asyncio.Queue()
        self._task: asyncio.Task[Outcome] | None = None

    def _start(self, work: asyncio.Task[Outcome]) -> None:
        self._task = work
        work.add_done_callback(lambda _: self._events.put_nowait(None))

    def _tell(self, event: RunEvent) -> None:
        self._events.put_nowait(event)

    async def __aiter__(self) -> AsyncIterator[RunEvent]:
        while (event := await self._events.get()) is not None:
            yield event
        self._events.put_nowait(None)  # a second iteration ends, too

    async def outcome(self) -> Outcome:
        """Wait for the end of the run.

        Raises:
            ConfigurationError: As `Agent.ask()`.
        """
        if self._task is None:
            raise RuntimeError("the run was not started: use it as `async with agent.run(...) as run:`")
        return await asyncio.shield(self._task)


class Agent:
    """Answers questions from web sites, with one pool of browsers for all of them.

    Use it as `async with Agent.open(target="gpt-5-mini") as agent:`.

    Args:
        settings: How it works.
        pool: An open pool; it stays its owner's.
        keeper: Has the user's own things open, for all questions; None: each opens them for itself.
        link: The connection to the shared cache, for all questions; None: each opens it for itself.
    """

    def __init__(
        self, settings: Settings, pool: BrowserPool, *, keeper: Keeper | None = None, link: CacheLink | None = None
    ) -> None:
        self.settings = settings
        self.pool = pool
        self._keeper = keeper
        self._link = link
        self._embedder = Embedder()
        self._models = Models(settings)

    @staticmethod
    @asynccontextmanager
    async def open(settings: Settings | None = None, /, **given: Any) -> AsyncIterator[Agent]:
        """Open a pool of browsers.

        Args:
            settings: How the agent works; None: as the environment and `speccache.toml` say.
            given: Single settings by name, before what those say; see `agent.settings.Settings`.

        Raises:
            ConfigurationError: A setting is wrong.
            SessionUnusable: A saved session cannot be used.
            BrowserNotFound: There is no Chromium on this machine.
            LaunchFailed: It does not start.
        """
        chosen = load_settings(**(settings.model_dump(exclude_none=True) | given if settings else given))
        async with Agent.opened(chosen) as agent:
            yield agent

    @staticmethod
    @asynccontextmanager
    async def opened(settings: Settings, /) -> AsyncIterator[Agent]:
        """Open a pool of browsers as just these settings say, whatever environment and `speccache.toml` say here.

        Raises:
            SessionUnusable, BrowserNotFound, LaunchFailed: As `open()`.
        """
        async with AsyncExitStack() as stack:
            keeper = stack.enter_context(Keeper(settings))
            pool = await stack.enter_async_context(open_pool(settings))
            link = await stack.enter_async_context(open_cache_link(settings))
            agent = Agent(settings, pool, keeper=keeper, link=link)
            try:
                yield agent
            finally:
                await agent._models.aclose()

    async def ask(
        self,
        question: str,
        /,
        *,
        url: str | None = None,
        schema: Schema | type[BaseModel] | None = None,
        listeners: Sequence[RunListener] = (),
    ) -> Outcome:
        """Answer one question.

        Args:
            question: What you want to know.
            url: Where to start; https:// is added where no scheme is given. None: with a search for the question.
            schema: The shape of `outcome.data`: a JSON schema, or a pydantic model, of which `data` then is one.
            listeners: Called with every event of the run.

        Cancellation: the run ends, and gives back its pages.

        Raises:
            ConfigurationError: The settings name no usable model, there is none for a schema, or nowhere to start.
            AddressRefused: The URL is no web address.
        """
        if isinstance(schema, type):
            outcome = await self.ask(question, url=url, schema=schema.model_json_schema(), listeners=listeners)
            return replace(outcome, data=None if outcome.data is None else schema.model_validate(outcome.data))
        return await ask(
            question,
            checked(url) if url else "",
            settings=self.settings,
            pool=self.pool,
            listeners=listeners,
            embedder=self._embedder,
            schema=schema,
            models=self._models,
            keeper=self._keeper,
            link=self._link,
        )

    @asynccontextmanager
    async def run(
        self, question: str, /, *, url: str | None = None, schema: Schema | type[BaseModel] | None = None
    ) -> AsyncIterator[Run]:
        """Answer one question, and follow how: `async with agent.run(...) as run: async for event in run: ...`.

        Cancellation: leaving the block before the run is over ends it.

        Raises:
            AddressRefused: As `ask()`; all else that goes wrong is raised by `run.outcome()`.
        """
        run = Run()
        start = checked(url) if url else None
        work = self.ask(question, url=start, schema=schema, listeners=[run._tell])  # noqa: SLF001 - two halves of one
        task = asyncio.create_task(work, name="answer a question")
        run._start(task)  # noqa: SLF001
        try:
            yield run
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def ask_many(self, questions: Iterable[Question], /, *, concurrency: int = 4) -> list[Outcome]:
        """Answer several questions side by side, in separate sessions on one pool.

        `agent.cluster.ask_many` does so on many machines.

        Args:
            questions: What you want to know, and where to start.
            concurrency: How many are under way at once.

        Returns:
            Their outcomes, in the order of the questions.

        Raises:
            ConfigurationError: As `ask()`; or each session would be saved to the same file.
            AddressRefused: As `ask()`, before anything is asked.
        """
        if self.settings.save_storage_state is not None and self.settings.profile is None:
            raise ConfigurationError(
                "several questions have a session each, and only one file to save them to",
                hint="Use a profile, which they share, in place of save_storage_state.",
            )
        asked = [replace(each, url=checked(each.url) if each.url else None) for each in questions]
        room = asyncio.Semaphore(concurrency)

        async def answer(question: Question) -> Outcome:
            async with room:
                return await self.ask(question.text, url=question.url)

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(answer(question)) for question in asked]
        return [task.result() for task in tasks]
