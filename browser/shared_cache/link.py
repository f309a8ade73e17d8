"""The connection to a shared cache: all that is asked of the server goes through here.

Invariant: nothing asked on behalf of a page takes longer than the patience, but that the bytes of a large page have a
time of their own, by their number; a server that is in trouble is asked nothing at all until it has answered a question
that nobody waits for.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError

from browser.shared_cache.address import CacheAddress
from browser.shared_cache.health import Health
from browser.shared_cache.scripts import CLAIM, RELEASE, RENEW

logger = logging.getLogger(__name__)

Work = Callable[[], Coroutine[Any, Any, None]]
ArgumentT = TypeVar("ArgumentT")
ResultT = TypeVar("ResultT")

_THREADS = 2


class CacheAway(Exception):
    """The server gave no usable answer; the run goes on as if there were none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkOptions:
    """How much the server is asked, and how long anything waits for it.

    Attributes:
        patience_seconds: What one answer may take. One takes about a millisecond, a page load a hundred and more.
        inline_bytes: A larger page is fetched by a question of its own, which may take as much longer as it is larger.
        least_bytes_per_second: How fast it has to come.
        open_seconds: What the first one may take.
        write_seconds: What putting a page there may take; nobody waits for it.
        lease_seconds: When the lease of a worker that has died ends.
        beat_seconds: How often leases are renewed, or a server in trouble is asked whether it answers again.
        first_pause_seconds: For how long one is left alone after its first failure; this doubles with each.
        close_seconds: How long closing waits for pages still being written.
        max_connections: Connections to the server.
        max_page_bytes: What one page may occupy there, compressed.
        max_backlog: Beyond so many writes that wait, pages are not kept.
    """

    patience_seconds: float = 0.1
    inline_bytes: int = 64 * 1024
    least_bytes_per_second: int = 8 * 1024 * 1024
    open_seconds: float = 0.5
    write_seconds: float = 2.0
    lease_seconds: float = 5.0
    beat_seconds: float = 1.0
    first_pause_seconds: float = 1.0
    close_seconds: float = 2.0
    max_connections: int = 8
    max_page_bytes: int = 2 * 1024 * 1024
    max_backlog: int = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What came of asking for a page.

    Attributes:
        kind: `page`: here it is. `yours`: the turn to load it. `theirs`: another worker's turn. `free`: anybody's.
        body: The page.
        remaining_seconds: For how long it may still be used.
    """

    kind: str
    body: bytes = b""
    remaining_seconds: float = 0.0


class CacheLink:
    """One process's connections to the server; any number of runs share them.

    Use it as `async with CacheLink(address) as link:`.

    Args:
        address: Where the server is.
        options: How much it is asked, and how long anything waits.

    Resource handling: owns the connections, two threads in which pages become bytes and bytes pages, and two tasks: one
    writes, one renews leases and is the look-out.
    Error handling: that the server cannot be used is told in a warning, and so is that it can be again.
    """

    def __init__(self, address: CacheAddress, *, options: LinkOptions = LinkOptions()) -> None:
        self.options = options
        self.health = Health(address, first_pause_seconds=options.first_pause_seconds)
        pool = BlockingConnectionPool.from_url(
            address.url,
            max_connections=options.max_connections,
            # Whoever asks has a limit around it. With one of redis-py's, `asyncio.wait_for` swallows cancellations of
            # whoever waits before Python 3.12, the look-out's at the end, too.
            timeout=None,
            socket_timeout=None,
            socket_connect_timeout=None,
            retry=Retry(NoBackoff(), 1),  # for a connection that the server has closed meanwhile
            protocol=2,
        )
        self._client = Redis.from_pool(pool)
        self._claim, self._renew, self._release = map(self._client.register_script, (CLAIM, RENEW, RELEASE))
        # Not the loop's own pool, whose threads others may hold for long.
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="shared-cache")
        self._leases: dict[str, str] = {}
        self._backlog: asyncio.Queue[Work] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []
        self._closed = False

    async def __aenter__(self) -> CacheLink:
        self._tasks = [
            asyncio.create_task(self._write(), name="write to shared cache"),
            asyncio.create_task(self._beat(), name="watch shared cache"),
        ]
        try:
            await self._ask(self._client.ping, self.options.open_seconds)
        except (CacheAway, ResponseError) as trouble:
            self.health.lost(str(trouble))
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.shield(asyncio.create_task(self._close(), name="close shared cache"))

    async def claim(self, page: str, lease: str, token: str) -> Claim:
        """Ask for a page or, where there is none, for the turn to load it.

        Raises:
            CacheAway: There is no answer.
        """
        arguments = (token, self._lease_ms, self.options.max_page_bytes, self.options.inline_bytes)
        try:
            reply = await self._ask(partial(self._claim, (page, lease), arguments), self.options.patience_seconds)
            kind = bytes(reply[0]).decode()
            if kind == "large":
                return Claim(kind="page", body=await self._fetch(page, reply[1]), remaining_seconds=reply[2] / 1000)
        except ResponseError as refusal:
            self.health.lost(str(refusal))  # no such command, no permission, a cluster: trying again soon is no use
            raise CacheAway from refusal
        if kind == "yours":
            self._leases[lease] = token
        if kind == "page":
            return Claim(kind=kind, body=reply[1], remaining_seconds=reply[2] / 1000)
        return Claim(kind=kind)

    async def _fetch(self, page: str, size_bytes: int) -> bytes:
        """Return a large page, or what has come in its place meanwhile, if only nothing."""
        seconds = self.options.patience_seconds + size_bytes / self.options.least_bytes_per_second
        question = partial(self._client.getrange, page, 0, size_bytes - 1)
        return bytes(await self._ask(question, seconds, what="page"))

    async def keep(self, page: str, body: bytes, *, lifetime_seconds: float) -> None:
        """Put a page there, if the server takes it; it must not be larger than `max_page_bytes`.

        Raises:
            CacheAway: There is no answer.
        """
        lifetime_ms = round(lifetime_seconds * 1000)
        if lifetime_ms <= 0:
            return
        try:
            await self._ask(partial(self._client.set, page, body, px=lifetime_ms), self.options.write_seconds)
        except ResponseError as refusal:
            self.health.refused(str(refusal))
        else:
            self.health.kept()

    async def release(self, lease: str, token: str, *, unfit_seconds: float = 0.0) -> None:
        """Give a lease back and, where the page is none that is kept, say so to those who come for it next.

        Raises:
            CacheAway: There is no answer; the lease ends by itself.
        """
        if self._leases.get(lease) == token:
            del self._leases[lease]
        arguments = (token, round(unfit_seconds * 1000))
        with suppress(ResponseError):
            await self._ask(partial(self._release, (lease,), arguments), self.options.write_seconds)

    async def in_thread(self, work: Callable[[ArgumentT], ResultT], argument: ArgumentT, /) -> ResultT:
        """Do in a thread what takes a while."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, argument)

    @property
    def takes_pages(self) -> bool:
        """Whether pages may be put there now."""
        return self.health.takes_pages and self._backlog.qsize() < self.options.max_backlog

    def later(self, work: Work) -> None:
        """Have something done behind the runs' backs, after all that was given here before."""
        self._backlog.put_nowait(work)

    @property
    def _lease_ms(self) -> int:
        return round(self.options.lease_seconds * 1000)

    async def _ask(
        self, question: Callable[[], Any], seconds: float, *, in_trouble: bool = False, what: str = "question"
    ) -> Any:
        if self._closed or not (self.health.usable or in_trouble):
            raise CacheAway("it is not used now")
        try:
            async with asyncio.timeout(seconds):
                reply = await question()
        except TimeoutError as error:
            self.health.late(seconds, what)
            raise CacheAway(f"no answer within {seconds:g} s") from error
        except ResponseError:
            raise
        except (RedisError, OSError) as error:
            reason = str(error) or type(error).__name__
            self.health.lost(reason)
            raise CacheAway(reason) from error
        # What else may take longer says nothing of how fast pages come.
        if seconds <= self.options.patience_seconds or what == "page":
            self.health.answered(what)
        return reply

    async def _write(self) -> None:
        while True:
            work = await self._backlog.get()
            try:
                await work()
            except CacheAway:
                logger.debug("not told to the shared cache, which does not answer")
            finally:
                self._backlog.task_done()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self.options.beat_seconds)
            with suppress(CacheAway, ResponseError):
                if not self.health.usable and self.health.may_be_asked:
                    await self._ask(self._client.ping, self.options.patience_seconds, in_trouble=True)
            for lease, token in list(self._leases.items()):
                with suppress(CacheAway, ResponseError):
                    question = partial(self._renew, (lease,), (token, self._lease_ms))
                    await self._ask(question, self.options.patience_seconds)

    async def _close(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self.options.close_seconds):
                await self._backlog.join()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self.options.close_seconds)
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        with suppress(RedisError, OSError):  # one that hangs does not answer the end of a TLS connection either
            async with asyncio.timeout(self.options.close_seconds):
                await self._client.aclose()
