"""One client's walk through the web, with a cache that loads ahead of it.

Invariant: a session does one thing at a time; what its client may be after guides only what loads ahead, never what a
call shows.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from agent.errors import ToolRefused
from agent.mcp_server.results import Cached, Sight, StatusResult
from agent.mcp_server.tally import Tally
from agent.web import completed, host_of
from browser.action import Action, Click, Search, Visit
from browser.destination import no_link
from browser.environment import WebEnvironment
from browser.errors import PoolClosed
from browser.observation import Observation
from browser.pool import BrowserPool
from browser.window import shown
from speccache.environment import Environment
from speccache.events import EventKind

_CONTROL = re.compile(r"\[?c\d+\]?")
_RELATIVE = ("/", "./", "../", "?", "#")
_CACHED: dict[EventKind, Cached] = {EventKind.HIT: "hit", EventKind.JOIN: "join", EventKind.MISS: "miss"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """What a session walks through.

    Attributes:
        web: The web.
        environment: The same, with the cache around it where pages load ahead.
        pool: Where its pages are loaded.
        keeps: Whether pages of earlier runs may be shown.
        stack: Closes both.
    """

    web: WebEnvironment
    environment: Environment[Action, Observation]
    pool: BrowserPool
    keeps: bool
    stack: AsyncExitStack

    def prepare(self, action: Action) -> None:
        """A kept page asks its server for nothing, but guesses from it wait for the site's rules: find these out."""
        url = self.web.address(action) or ""
        if self.keeps and host_of(url):
            self.pool.courtesy.prepare(url)


class BrowsingSession:
    """What one client sees and does.

    Args:
        begin: Opens its walk, once there is something to do.
        part_chars: Length of one part of a page, in characters.
        clock: Where the time comes from, in seconds.

    Resource handling: owns its walk; close it with `aclose()`.
    """

    def __init__(
        self,
        begin: Callable[[BrowsingSession], Awaitable[Walk]],
        *,
        part_chars: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.tally = Tally()
        self.goal = ""
        """What the client said it is after."""
        self.used_seconds = clock()
        """When it was last called."""
        self.left_seconds: float | None = None
        """When its client closed its stream, where it neither called nor opened another since, as far as is known."""
        self._begin = begin
        self._part_chars = part_chars
        self._clock = clock
        self._turn = asyncio.Lock()
        self._calls = 0
        self._walk: Walk | None = None
        self._here: Observation | None = None
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether it is being called."""
        return self._calls > 0

    async def open(self, url: str, *, goal: str | None = None) -> Sight:
        """Go to an address.

        Args:
            url: The address; relative ones count from the page.
            goal: What the client is after from now on; None: what it was.
        """
        self.goal = self.goal if goal is None else goal
        relative = self._here is not None and url.startswith(_RELATIVE)
        return await self._do(Visit(url if relative else completed(url)))

    async def follow(self, target: str) -> Sight:
        """Open a link of the page.

        Raises:
            ToolRefused: No page is open, or it has no such link.
        """
        self._standing()
        walk = await self._walking()
        address = walk.web.address(Visit(target))
        if address is None:
            raise ToolRefused(no_link(target), hint="Links are written [text][number] in the text of the page.")
        return await self._do(Visit(address))

    async def search(self, query: str) -> Sight:
        """Ask the search engine."""
        return await self._do(Search(query))

    async def do(self, action: Action) -> Sight:
        """Do something on the page.

        Raises:
            ToolRefused: No page is open.
        """
        self._standing()
        return await self._do(action)

    async def click(self, reference: str, *, acting: bool) -> Sight:
        """Open the link of that number, or click the control.

        Raises:
            ToolRefused: It is a control, and these may not be used; or as `follow()`.
        """
        if not _CONTROL.fullmatch(reference.strip()):
            return await self.follow(reference)
        if not acting:
            raise ToolRefused(
                f"the control {reference} was not clicked: this server only reads",
                hint="Open links by their numbers; to use controls, the user starts the server with --act.",
            )
        return await self.do(Click(reference))

    def look(self) -> Sight:
        """Show the page again, which costs nothing.

        Raises:
            ToolRefused: No page is open.
        """
        here = self._standing()
        return Sight(observation=shown(here.document, part=here.part, part_chars=self._part_chars))

    def status(self, *, sessions: int) -> StatusResult:
        """Tell what is going on.

        Args:
            sessions: How many sessions the server has.
        """
        account = self.tally.account
        return StatusResult(
            url=self._here.url if self._here else "",
            goal=self.goal,
            loading=tuple(self.tally.loading.values()),
            hits=account.hits,
            joins=account.joins,
            misses=account.misses,
            speculated=account.speculated,
            wasted=account.wasted,
            hidden_s=round(account.hidden_seconds, 3),
            sessions=sessions,
        )

    def _standing(self) -> Observation:
        if self._here is None:
            raise ToolRefused(
                "no page is open: none was opened yet, or the session was closed because it was not used for long",
                hint="Open one by its URL first.",
            )
        return self._here

    async def _do(self, action: Action) -> Sight:
        self._calls += 1
        try:
            async with self._turn:
                walk = await self._walking()
                walk.prepare(action)
                self.tally.step = None
                started_seconds = self._clock()
                observation = await walk.environment.step(action)
                self._here = observation if observation.url else self._here
                return self._sight(observation, self._clock() - started_seconds)
        finally:
            self._calls -= 1
            self.used_seconds = self._clock()

    def _sight(self, observation: Observation, waited_seconds: float) -> Sight:
        step = self.tally.step
        cached = "none" if step is None else _CACHED.get(step.kind, "none")
        return Sight(observation=observation, cached=cached, waited_seconds=waited_seconds)

    async def _walking(self) -> Walk:
        if self._walk is None:
            walk = await self._begin(self)
            if self._closed:  # meanwhile
                await walk.stack.aclose()
                raise PoolClosed("the session was closed")
            self._walk = walk
        return self._walk

    async def aclose(self) -> None:
        """Close its pages, whatever is under way; may be called twice."""
        self._closed = True
        if self._walk is not None:
            await asyncio.shield(asyncio.create_task(self._walk.stack.aclose(), name="close a session"))
