"""The web with `reset` and `step`, as BrowserGym's agents expect it, and pages loaded ahead by the goal.

Invariant: what cannot be done moves nothing and stands in `last_action_error`; only what is wrong with the program or
the machine is raised.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from types import TracebackType
from typing import Any, NamedTuple, Self

from anyio.from_thread import BlockingPortal, start_blocking_portal

from agent.adapters.browser_gym_action import Message, Noop, parse_action
from agent.errors import ActionUnreadable, ConfigurationError
from agent.keeper import Keeper
from agent.kept_pages import open_page_level
from agent.mcp_server.tally import Tally
from agent.predictors.embedding import Embedder
from agent.predictors.history_predictor import HistoryPredictor
from agent.predictors.ranker import LinkRanker
from agent.settings import PredictorName, Settings, load_settings
from agent.speculation import speculative
from agent.web import checked, open_pool, web_environment
from browser.action import Action, Interaction, Visit
from browser.observation import Observation
from browser.pool import BrowserPool
from browser.window import shown
from speccache.account import Account
from speccache.environment import Environment

Seen = dict[str, Any]
"""An observation by BrowserGym's names: `goal`, `chat_messages`, `url`, `open_pages_urls`, `open_pages_titles`,
`active_page_index`, `last_action`, `last_action_error`, `elapsed_time`. In place of its trees stands `axtree_txt`, the
page as text, whose numbers are the `bid`s; `events` tells what happened beside (dialogs, downloads)."""


class Start(NamedTuple):
    """What `reset` returns."""

    obs: Seen
    info: dict[str, Any]


class Transition(NamedTuple):
    """What `step` returns. There is no task that could reward or end anything, but a message to the user ends it."""

    obs: Seen
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


class AsyncBrowserGym:
    """Episodes on the web, one after the other.

    Use it as `async with AsyncBrowserGym.open() as env:`.

    Args:
        settings: How pages are loaded; controls can be used where `act` is set.
        pool: An open pool; it stays its owner's.
        keeper: Has the user's own things open; it stays its owner's.
        clock: Where the time comes from, in seconds.

    Resource handling: owns the episode's pages; close it with `aclose()`.
    """

    def __init__(
        self, settings: Settings, pool: BrowserPool, keeper: Keeper, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.tally = Tally()
        """What loads ahead just now, and how the last step went."""
        self._settings = settings
        self._pool = pool
        self._keeper = keeper
        self._clock = clock
        self._ranker = LinkRanker(Embedder())
        self._stack = AsyncExitStack()
        self._environment: Environment[Action, Observation] | None = None
        self._here: Observation | None = None
        self._goal = ""
        self._messages: list[dict[str, str]] = []
        self._started_seconds = 0.0

    @staticmethod
    @asynccontextmanager
    async def open(settings: Settings | None = None, /, **given: Any) -> AsyncIterator[AsyncBrowserGym]:
        """Open a pool of browsers.

        Args:
            settings: How pages are loaded; None: as the environment and `speccache.toml` say.
            given: Single settings by name, before what those say.

        Raises:
            ConfigurationError: A setting is wrong.
            SessionUnusable: A saved session cannot be used.
            BrowserNotFound: There is no Chromium on this machine.
            LaunchFailed: It does not start.
        """
        chosen = load_settings(**(settings.model_dump(exclude_none=True) | given if settings else given))
        async with AsyncExitStack() as stack:
            keeper = stack.enter_context(Keeper(chosen))
            pool = await stack.enter_async_context(open_pool(chosen))
            gym = AsyncBrowserGym(chosen, pool, keeper)
            stack.push_async_callback(gym.aclose)
            await gym._warm()
            yield gym

    async def _warm(self) -> None:
        """Load the ranker's model, so that the first guesses do not wait for it."""
        if self._guesses:
            with suppress(ConfigurationError):  # said where it is needed
                await self._ranker.embedder.embed(["warm"])

    @property
    def _guesses(self) -> bool:
        return self._settings.speculation and self._settings.predictor is not PredictorName.NONE

    @property
    def account(self) -> Account:
        """Hits, joins, misses, and the seconds saved (`hidden_seconds`), over all episodes."""
        return self.tally.account

    async def reset(self, goal: str, url: str) -> Start:
        """Begin an episode.

        Args:
            goal: What the agent is after; pages that fit it are loaded ahead.
            url: Where it starts; its host may be private, since the user names it.

        Raises:
            AddressRefused: The URL is no web address.
        """
        start = Visit(checked(url))
        await self.aclose()
        self._environment = await self._begin(goal, start.target)
        self._started_seconds = self._clock()
        error = await self._do(self._environment, start)
        return Start(self._seen("", error), self._info())

    async def _begin(self, goal: str, url: str) -> Environment[Action, Observation]:
        settings, visitor = self._settings, self._keeper.visitor(url)
        self._goal = visitor.allowance.masked(goal)
        self._messages = [{"role": "user", "message": self._goal}]
        web = web_environment(settings, self._pool, url, visitor=visitor)
        self._stack.push_async_callback(web.aclose)
        environment: Environment[Action, Observation] = web
        if self._guesses:
            self._pool.warm()
            level = await self._stack.enter_async_context(open_page_level(settings, web))
            predictors = (HistoryPredictor(self._ranker, goal=lambda: self._goal),)
            environment = speculative(
                web,
                self._pool,
                settings,
                predictors=predictors,
                deeper=predictors,
                listener=self.tally,
                second_level=level,
            )
            self._stack.push_async_callback(environment.aclose)
        self._stack.push_async_callback(self._keeper.save, web)
        return environment

    async def step(self, action: str) -> Transition:
        """Do what is written as a call, such as `click("12")`, `fill("c3", "text")` or `send_msg_to_user("done")`.

        Raises:
            RuntimeError: No episode has begun, or it is over.
        """
        if self._environment is None:
            raise RuntimeError("no episode is under way: begin one with reset()")
        error, terminated = "", False
        self.tally.step = None
        try:
            match parse_action(action):
                case Message(text):
                    self._messages.append({"role": "assistant", "message": text})
                    terminated = True
                case Noop():
                    pass
                case acting if isinstance(acting, Interaction) and not self._settings.act:
                    error = "Controls cannot be used: the environment only reads, unless it is opened with act=True."
                case taken:
                    error = await self._do(self._environment, taken)
        except ActionUnreadable as unreadable:
            error = str(unreadable)
        transition = Transition(self._seen(action, error), 0.0, terminated, False, self._info())
        if terminated:
            await self.aclose()
        return transition

    async def _do(self, environment: Environment[Action, Observation], action: Action) -> str:
        """Do an action; returns why it could not be done, empty where it could."""
        observation = self._here = await environment.step(action)
        if observation.document.problem is not None:
            return observation.text
        page = shown(observation.document, part=observation.part, part_chars=self._settings.part_chars).text
        told = {event.text for event in observation.events}
        return "\n".join(line for line in observation.text.removesuffix(page).splitlines() if line and line not in told)

    def _seen(self, action: str, error: str) -> Seen:
        here = self._here
        return {
            "goal": self._goal,
            "chat_messages": tuple(self._messages),
            "url": here.url if here else "",
            "open_pages_urls": (here.url,) if here else (),
            "open_pages_titles": (here.title,) if here else (),
            "active_page_index": 0,
            "axtree_txt": here.document.markdown if here else "",
            "events": tuple(event.text for event in here.events) if here else (),
            "last_action": action,
            "last_action_error": error,
            "elapsed_time": self._clock() - self._started_seconds,
        }

    def _info(self) -> dict[str, Any]:
        step = self.tally.step
        return {"speculation": "none" if step is None else str(step.kind)}

    async def aclose(self) -> None:
        """End the episode; may be called twice."""
        self._environment = None
        self._here = None
        stack, self._stack = self._stack, AsyncExitStack()
        await stack.aclose()


class BrowserGym:
    """The same for programs without `async`: `with BrowserGym() as env: obs, info = env.reset(goal, url)`.

    The browsers live on an event loop in a thread of their own, from the first `reset` to `close`.

    Args:
        settings: See `AsyncBrowserGym.open`.
        given: Single settings by name.
    """

    def __init__(self, settings: Settings | None = None, /, **given: Any) -> None:
        self._settings = settings
        self._given = given
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None
        self._gym: AsyncBrowserGym | None = None

    @property
    def account(self) -> Account:
        """Hits, joins, misses, and the seconds saved (`hidden_seconds`), over all episodes."""
        return self._gym.account if self._gym is not None else Account()

    def reset(self, goal: str, url: str) -> Start:
        """Begin an episode; see `AsyncBrowserGym.reset`, and for what the first may raise its `open`."""
        if self._portal is None or self._gym is None:
            with ExitStack() as stack:
                self._portal = stack.enter_context(start_blocking_portal(name="browser gym"))
                opening = AsyncBrowserGym.open(self._settings, **self._given)
                self._gym = stack.enter_context(self._portal.wrap_async_context_manager(opening))
                self._stack = stack.pop_all()
        start: Start = self._portal.call(self._gym.reset, goal, url)
        return start

    def step(self, action: str) -> Transition:
        """Do an action; see `AsyncBrowserGym.step`."""
        if self._portal is None or self._gym is None:
            raise RuntimeError("no episode is under way: begin one with reset()")
        transition: Transition = self._portal.call(self._gym.step, action)
        return transition

    def close(self) -> None:
        """Close the browsers; may be called twice. The account stays."""
        self._portal = None
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
