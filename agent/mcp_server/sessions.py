"""The sessions of all clients of one server, on one pool of browsers.

Invariant: no more sessions are open than may hold live pages at once; what is opened here is closed here. The browsers
start with the first page that a client opens: a server that nobody asks for one costs next to nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

import anyio

from agent.errors import ConfigurationError, ServerBusy, ToolRefused
from agent.keeper import Keeper
from agent.kept_pages import PageLevel, open_cache_link, open_page_level
from agent.mcp_server.results import StatusResult
from agent.mcp_server.session import BrowsingSession, Walk
from agent.predictors.embedding import Embedder
from agent.predictors.history_predictor import HistoryPredictor
from agent.predictors.predictor_choice import Predictors
from agent.predictors.ranker import LinkRanker
from agent.settings import PredictorName, Settings
from agent.speculation import speculative
from agent.telemetry.watch import Watch
from agent.web import open_pool, web_environment
from browser.action import Action
from browser.observation import Observation
from browser.pool import BrowserPool
from browser.slots.errands import Errands
from speccache.environment import Environment

if TYPE_CHECKING:
    from browser.shared_cache.link import CacheLink

IDLE_SECONDS = 900.0
"""How long a session is kept that is not called."""
LEFT_SECONDS = 60.0
"""How long one is whose client has closed its stream and neither opened another nor called: it was ended, or killed."""
_SWEEP_SECONDS = 30.0
_REST_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ground:
    """What all sessions stand on: the browsers, and the cache they share with others, if any."""

    pool: BrowserPool
    link: CacheLink | None


class Sessions:
    """Opens and closes sessions.

    Use it as `async with Sessions(settings, keeper) as sessions:`.

    Args:
        settings: How they browse.
        keeper: Has the user's own things open; it stays the caller's.
        url: A site that the user named: it may be private, and what of the user's own is for no other host is for it.
        idle_seconds: How long a session is kept that is not called; None: for good.
        watch: Who watches sessions from outside; None: nobody.
        clock: Where the time comes from, in seconds.

    Resource handling: owns the pool, every session, and a task that closes idle ones.
    """

    def __init__(
        self,
        settings: Settings,
        keeper: Keeper,
        *,
        url: str = "",
        idle_seconds: float | None = IDLE_SECONDS,
        watch: Watch | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._keeper = keeper
        self._url = url
        self._idle_seconds = idle_seconds
        self._watch = watch or Watch()
        self._clock = clock
        self._ranker = LinkRanker(Embedder())
        self._sessions: dict[str, BrowsingSession] = {}
        self._streams: Counter[str] = Counter()
        self._ending = Errands()
        self._calls: set[anyio.CancelScope] = set()
        self._stack = AsyncExitStack()
        self._opening: asyncio.Task[_Ground] | None = None
        self._warming: asyncio.Task[None] | None = None
        self._sweeping: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        if self._idle_seconds is not None:
            self._sweeping = asyncio.create_task(self._sweep(), name="close idle sessions")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.shield(asyncio.create_task(self._close_all(), name="close all sessions"))

    def get(self, name: str) -> BrowsingSession:
        """Return the session of that name; where there is none, a new one.

        Raises:
            ServerBusy: There is no room for another one.
        """
        if name not in self._sessions:
            most = self._settings.questions_at_once
            if len(self._sessions) >= most:
                raise ServerBusy(
                    f"busy: pages are open for {most} clients, which is as many as this server takes",
                    hint="Try again once one of them is done; SPECCACHE_QUESTIONS_AT_ONCE sets how many there may be.",
                )
            self._sessions[name] = BrowsingSession(self._begin, part_chars=self._settings.part_chars, clock=self._clock)
        session = self._sessions[name]
        self._touch(session)
        return session

    def _touch(self, session: BrowsingSession) -> None:
        """Note that its client has just called: to look, or in vain, is a call, too."""
        session.used_seconds, session.left_seconds = self._clock(), None

    @contextmanager
    def listening(self, name: str) -> Iterator[None]:
        """Know that a client is there while this is entered: it holds the stream open by which it would be told things.

        Not every client has one, so that nothing follows from its never having been there.
        """
        self._streams[name] += 1
        try:
            yield
        finally:
            self._streams -= Counter([name])  # what comes to nothing is dropped
            session = self._sessions.get(name)
            if session is not None and name not in self._streams:
                session.left_seconds = self._clock()

    @contextmanager
    def calling(self) -> Iterator[None]:
        """Give a call that is under way when the server ends an answer of its own.

        Raises:
            ToolRefused: It was given up for that.
        """
        with anyio.CancelScope() as call:
            self._calls.add(call)
            try:
                yield
            finally:
                self._calls.discard(call)
        if call.cancelled_caught:
            raise ToolRefused("the call was given up, since the server ends", hint="Call again once it is back.")

    def give_up_calls(self) -> None:
        """Let all calls end now: the server does."""
        for call in self._calls:
            call.cancel()

    async def status(self, name: str, *, at_rest: bool = False) -> StatusResult:
        """Tell what the session of that name is doing; it need not be there.

        Args:
            name: Its name.
            at_rest: Wait until nothing is loading ahead, for a while at most.
        """
        session, count = self._sessions.get(name), len(self._sessions)
        if session is not None:
            self._touch(session)
            if at_rest:
                with suppress(TimeoutError):
                    await asyncio.wait_for(session.tally.rest.wait(), _REST_SECONDS)
                self._touch(session)
        return session.status(sessions=count) if session else StatusResult(sessions=count)

    def end(self, name: str) -> None:
        """Free the place of the session of that name at once, if there is one, and close it by the side."""
        session = self._sessions.pop(name, None)
        if session is not None:
            self._ending.run(session.aclose(), name="end a session")

    async def close(self, name: str) -> None:
        """Close the session of that name, if there is one: its place is free at once."""
        session = self._sessions.pop(name, None)
        if session is not None:
            await session.aclose()

    async def close_idle(self) -> None:
        """Close the sessions that were not called for too long, and those whose clients are gone."""
        if self._idle_seconds is None:
            return
        now_seconds = self._clock()
        for name, session in list(self._sessions.items()):
            left_seconds = session.left_seconds
            left = left_seconds is not None and name not in self._streams and now_seconds - left_seconds >= LEFT_SECONDS
            if not session.busy and (left or now_seconds - session.used_seconds >= self._idle_seconds):
                await self.close(name)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            await self.close_idle()

    async def _ground(self) -> _Ground:
        """Return what all sessions stand on, opened by whoever comes first; where that failed the next tries again."""
        if self._opening is None or (self._opening.done() and self._opening.exception() is not None):
            self._opening = asyncio.create_task(self._open_ground(), name="open the pool")
            if self._warming is None and self._settings.speculation:
                self._warming = asyncio.create_task(self._warm(), name="load the ranker's model")
        return await asyncio.shield(self._opening)

    async def _open_ground(self) -> _Ground:
        async with AsyncExitStack() as stack:
            link = await stack.enter_async_context(open_cache_link(self._settings))
            pool = await stack.enter_async_context(open_pool(self._settings, self._url))
            self._watch.pool_opened(pool)
            self._stack.push_async_callback(stack.pop_all().aclose)
            return _Ground(pool=pool, link=link)

    async def _warm(self) -> None:
        """Load the ranker's model while the first page loads, so that the first guesses do not wait for it."""
        with suppress(ConfigurationError):  # said where it is needed
            await self._ranker.embedder.embed(["warm"])

    async def _begin(self, session: BrowsingSession) -> Walk:
        ground, settings = await self._ground(), self._settings
        visitor = self._keeper.visitor(self._url)
        web = web_environment(settings, ground.pool, self._url, visitor=visitor)
        environment: Environment[Action, Observation] = web
        level: PageLevel | None = None
        async with AsyncExitStack() as stack:
            session.tally.onward = following = self._watch.begin(mask=visitor.allowance.masked)
            stack.callback(following.close)
            stack.push_async_callback(web.aclose)
            if settings.speculation:
                ground.pool.warm()
                level = await stack.enter_async_context(open_page_level(settings, web, link=ground.link))
                predictors = self._predictors(session)
                environment = speculative(
                    web,
                    ground.pool,
                    settings,
                    predictors=predictors,
                    deeper=predictors,
                    listener=session.tally,
                    second_level=level,
                )
                stack.push_async_callback(environment.aclose)
            stack.push_async_callback(self._keeper.save, web)
            keeps = level is not None
            return Walk(web=web, environment=environment, pool=ground.pool, keeps=keeps, stack=stack.pop_all())

    def _predictors(self, session: BrowsingSession) -> Predictors:
        if self._settings.predictor is PredictorName.NONE:
            return ()
        return (HistoryPredictor(self._ranker, goal=lambda: session.goal),)

    async def _close_all(self) -> None:
        tasks = [task for task in (self._sweeping, self._warming, self._opening) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        while self._sessions:
            await self.close(next(iter(self._sessions)))
        await self._ending.wait(seconds=_REST_SECONDS)
        await self._stack.aclose()

    def __repr__(self) -> str:
        return f"<Sessions {len(self._sessions)}/{self._settings.questions_at_once}>"
