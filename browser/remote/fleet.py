"""Browsers elsewhere, used as if they were the one browser of a pool: its pages are spread over them.

Invariant: pages of real actions and pages that load ahead never share a connection. A page that cannot be opened at one
endpoint is opened at another, for as long as there is one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from playwright.async_api import BrowserContext

from browser.engine.process import BrowserProcess, Opener
from browser.engine.recycling import RecyclingLimits
from browser.engine.running_browser import RunningBrowser
from browser.errors import EndpointFailed, EndpointsDown, LaunchFailed, PoolClosed, SlotCrashed
from browser.remote.connecting import connect
from browser.remote.endpoint import Endpoint
from browser.remote.roster import Post, Roster
from browser.session.identity import Identity


class Fleet:
    """The browsers for one kind of work, with what a `BrowserProcess` offers.

    Args:
        roster: The endpoints.
        process: Makes what keeps the connection to one of them.
        background: Whether pages are loaded ahead in them.

    Resource handling: owns the connections, and the tasks that make the first ones; close them with `aclose()`.
    """

    def __init__(
        self, roster: Roster, *, process: Callable[[Endpoint], BrowserProcess], background: bool = False
    ) -> None:
        self._roster = roster
        self._background = background
        self._processes = {post: process(post.endpoint) for post in roster.posts}
        self._posts: dict[BrowserContext, Post] = {}
        self._reaching: dict[asyncio.Task[LaunchFailed | None], Post] = {}

    async def start(self) -> None:
        """Connect to all endpoints, and go on as soon as one is there; the others join when they come.

        Raises:
            EndpointsDown: None can be used.
            LaunchFailed: The driver does not start.
        """
        for post in self._roster.posts:
            post.expected = True
            self._reaching[asyncio.create_task(self._reach(post), name="reach an endpoint")] = post
        failures: dict[Post, EndpointFailed] = {}
        pending = set(self._reaching)
        while pending and len(failures) + len(pending) == len(self._reaching):
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                match task.result():
                    case EndpointFailed() as failure:
                        failures[self._reaching[task]] = failure
                    case LaunchFailed() as failure:
                        raise failure  # it is this machine's driver that does not start
        if len(failures) == len(self._reaching):
            raise EndpointsDown([failures[post] for post in self._roster.posts])
        for task in list(self._reaching):
            if task in pending:
                task.add_done_callback(self._learn)
            else:
                self._learn(task)

    async def _reach(self, post: Post) -> LaunchFailed | None:
        try:
            await self.knock(post)
        except LaunchFailed as failure:
            return failure
        return None

    def _learn(self, reached: asyncio.Task[LaunchFailed | None]) -> None:
        """Learn what came of connecting to an endpoint for the first time."""
        post = self._reaching.pop(reached)
        post.expected = False
        if reached.cancelled() or isinstance(reached.exception(), PoolClosed):
            return
        failure = reached.result()
        if isinstance(failure, EndpointFailed):  # else it is this machine that fails: whoever needs a page is told
            self._roster.failed(post, failure)

    async def knock(self, post: Post) -> None:
        """Connect to an endpoint where there is no connection.

        Raises:
            EndpointFailed: It cannot be used.
            LaunchFailed: The driver does not start.
        """
        await self._processes[post].start()

    async def new_context(self, identity: Identity, *, headers: Mapping[str, str]) -> BrowserContext:
        """Make a fresh context where there is most room; give it back with `leave()`.

        Args:
            identity: Who it is to the sites.
            headers: What is sent with every request.

        Raises:
            EndpointsDown: No endpoint can be used.
            LaunchFailed: The driver does not start.
        """
        tried: set[Post] = set()
        while (post := self._untried(tried)) is not None:
            tried.add(post)
            context = await self._new_context(post, identity, headers)
            if context is not None:
                return context
        raise EndpointsDown(self._roster.failures)

    def _untried(self, tried: Collection[Post]) -> Post | None:
        """Return the best that was not tried; asked anew each time: others have failed or come back meanwhile."""
        return next((post for post in self._roster.candidates(ahead=self._background) if post not in tried), None)

    async def _new_context(self, post: Post, identity: Identity, headers: Mapping[str, str]) -> BrowserContext | None:
        post.count(1, ahead=self._background)  # at once: others choose meanwhile
        context = None
        try:
            context = await self._insist(post, identity, headers)
        except EndpointFailed as failure:
            self._roster.failed(post, failure)
        except SlotCrashed as crash:
            self._roster.failed(post, EndpointFailed(endpoint=str(post.endpoint), reason=str(crash)))
        finally:
            if context is None:
                post.count(-1, ahead=self._background)
        if context is not None:
            self._posts[context] = post
            self._roster.succeeded(post)
        return context

    async def _insist(self, post: Post, identity: Identity, headers: Mapping[str, str]) -> BrowserContext:
        process = self._processes[post]
        try:
            return await process.new_context(identity, headers=headers)
        except SlotCrashed:  # a server that lives starts another browser; one that does not says more by refusing
            return await process.new_context(identity, headers=headers)

    def home(self, context: BrowserContext) -> RunningBrowser:
        """Return the browser that a context was made in."""
        return self._processes[self._posts[context]].home(context)

    def leave(self, context: BrowserContext) -> None:
        """Count a context as gone. May be called twice."""
        post = self._posts.pop(context, None)
        if post is not None:
            post.count(-1, ahead=self._background)
            self._processes[post].leave(context)

    async def suspect(self, home: RunningBrowser) -> None:
        """Look whether a browser that failed or did not answer still works; if not, its endpoint gets no more pages."""
        for post, process in self._processes.items():
            if home in process.browsers and not home.retired:
                await process.suspect(home)
                if home.retired:
                    lost = EndpointFailed(endpoint=str(post.endpoint), reason="it does not answer any more")
                    self._roster.failed(post, lost)

    def retire_if_due(self, limits: RecyclingLimits) -> None:
        """Give up connections that have served their time; a Playwright server ends its browser with them."""
        for process in self._processes.values():
            process.retire_if_due(limits)

    @property
    def browsers(self) -> Sequence[RunningBrowser]:
        """Those connected to."""
        return [home for process in self._processes.values() for home in process.browsers]

    @property
    def groups(self) -> Sequence[int]:
        """The process groups of all that run on this machine: none."""
        return []

    @property
    def launches(self) -> int:
        """How often one was connected to."""
        return sum(process.launches for process in self._processes.values())

    @property
    def retirements(self) -> int:
        """How often a connection was given up because it had served its time."""
        return sum(process.retirements for process in self._processes.values())

    @contextmanager
    def urgent(self) -> Iterator[None]:
        """Do nothing: what runs on other machines has the priority that it was given there."""
        yield

    async def aclose(self) -> None:
        """Give all connections up; bounded in time, and may be called twice."""
        await self._roster.aclose()
        for task in self._reaching:
            task.cancel()
        if self._reaching:
            await asyncio.wait(self._reaching)
        async with asyncio.TaskGroup() as group:
            for process in self._processes.values():
                group.create_task(process.aclose(), name="leave an endpoint")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleets:
    """The browsers elsewhere that a pool uses, on the same endpoints.

    Attributes:
        foreground: Those for real actions.
        background: Those in which pages are loaded ahead.
    """

    foreground: Fleet
    background: Fleet


class Connector(Protocol):
    """Makes what keeps the connection to a browser, as `BrowserProcess` is made."""

    def __call__(self, *, background: bool, opener: Opener) -> BrowserProcess: ...  # noqa: D102 - see above


def fleets(endpoints: Sequence[Endpoint], connector: Connector) -> Fleets:
    """Make both kinds of browsers on these endpoints; nothing is connected to yet."""

    def fleet(*, background: bool) -> Fleet:
        def process(endpoint: Endpoint) -> BrowserProcess:
            return connector(background=background, opener=partial(connect, endpoint=endpoint))

        return Fleet(roster, process=process, background=background)

    async def knock(post: Post) -> None:
        await foreground.knock(post)

    roster = Roster(endpoints, knock=knock)
    foreground = fleet(background=False)
    return Fleets(foreground=foreground, background=fleet(background=True))
