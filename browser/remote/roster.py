"""Which of the browsers elsewhere can be used, and how the pages are spread over them.

Invariant: an endpoint that failed gets no page until it has been connected to again, which is tried by the side with
growing waits; only where all have failed does anybody wait for one of them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from browser.errors import BrowserError, EndpointFailed, EndpointsDown
from browser.remote.endpoint import Endpoint
from browser.slots.errands import Errands

logger = logging.getLogger(__name__)

_CLOSE_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryWaits:
    """When an endpoint that failed is tried again.

    Attributes:
        first_seconds: After how long, first.
        factor: How much longer each time.
        longest_seconds: After how long at most.
    """

    first_seconds: float = 1.0
    factor: float = 2.0
    longest_seconds: float = 60.0


@dataclass(slots=True, kw_only=True, eq=False)
class Post:
    """An endpoint, and what there is on it.

    Attributes:
        endpoint: It.
        foreground: Pages of real actions, also those that are being opened.
        background: Pages for loading ahead, likewise.
        failure: Why it cannot be used now; None: it can, as far as is known.
        tried: Whether it is tried again by the side.
        expected: Whether it is being connected to for the first time.
    """

    endpoint: Endpoint
    foreground: int = 0
    background: int = 0
    failure: EndpointFailed | None = None
    tried: bool = False
    expected: bool = False

    @property
    def load(self) -> float:
        """How full it would be with one page more, by its weight."""
        return (self.foreground + self.background + 1) / self.endpoint.weight

    def count(self, pages: int, *, ahead: bool) -> None:
        """Add so many pages."""
        if ahead:
            self.background += pages
        else:
            self.foreground += pages


class Roster:
    """The endpoints of a pool.

    Args:
        endpoints: They.
        knock: Connects to one that failed; raises where it still cannot be used.
        waits: When that is tried.

    Resource handling: owns the tasks that try; `aclose()` ends them.
    """

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        *,
        knock: Callable[[Post], Awaitable[None]],
        waits: RetryWaits = RetryWaits(),
    ) -> None:
        self.posts = tuple(Post(endpoint=endpoint) for endpoint in endpoints)
        self._knock = knock
        self._waits = waits
        self._knocking = Errands()
        self._closed = False

    def candidates(self, *, ahead: bool) -> Sequence[Post]:
        """Return those that may get the next page, the best first.

        That is the emptiest by weight; to load ahead, one without pages of real actions goes before all others. One
        that is still expected is waited for where there is no other. Where none can be used as far as is known, real
        actions try all of them once more.

        Raises:
            EndpointsDown: None can be used for loading ahead.
        """
        hopeful = [post for post in self.posts if post.failure is None]
        up = [post for post in hopeful if not post.expected] or hopeful
        if not up and ahead:
            raise EndpointsDown(self.failures)
        return sorted(up or self.posts, key=lambda post: (ahead and post.foreground > 0, post.load))

    def failed(self, post: Post, failure: EndpointFailed) -> None:
        """Learn that an endpoint cannot be used; it gets no more pages until it can."""
        was_up, post.failure = post.failure is None, failure
        if was_up and not self._closed:
            logger.warning("%s It is tried again by the side.", _sentence(str(failure)))
            if not post.tried:
                post.tried = True
                self._knocking.run(self._try_again(post), name="try an endpoint again")

    def succeeded(self, post: Post) -> None:
        """Learn that an endpoint can be used."""
        if post.failure is not None:
            post.failure = None
            logger.warning("The browser at %s can be used again.", post.endpoint)

    async def _try_again(self, post: Post) -> None:
        seconds = self._waits.first_seconds
        try:
            while post.failure is not None:
                await asyncio.sleep(seconds)
                seconds = min(seconds * self._waits.factor, self._waits.longest_seconds)
                if post.failure is not None:  # else a real action has tried it meanwhile
                    await self._knock_at(post)
        finally:
            post.tried = False

    async def _knock_at(self, post: Post) -> None:
        try:
            await self._knock(post)
        except EndpointFailed as failure:
            post.failure = failure
        except BrowserError:  # it is this machine that fails: whoever needs a page is told
            return
        else:
            self.succeeded(post)

    @property
    def failures(self) -> Sequence[EndpointFailed]:
        """Why those cannot be used that cannot."""
        return [post.failure for post in self.posts if post.failure is not None]

    async def aclose(self) -> None:
        """End what tries; may be called twice."""
        self._closed = True
        await self._knocking.aclose(seconds=_CLOSE_SECONDS)

    def __repr__(self) -> str:
        return f"<Roster {' '.join(f'{post.endpoint}={_state(post)}' for post in self.posts)}>"


def _state(post: Post) -> str:
    return "down" if post.failure is not None else f"{post.foreground}+{post.background}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
