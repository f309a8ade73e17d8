"""The second level of one run that many workers share: pages that anonymous visitors saw, each loaded by one of them.

Invariant: only what a visitor without cookies saw is ever written or returned, and whatever is wrong with the server
costs the sharing, never the run.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Collection, Hashable
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256

from yarl import URL

from browser.action import Visit
from browser.observation import Observation
from browser.shared_cache.link import CacheAway, CacheLink, Claim
from browser.shelf.admission import Admission
from browser.shelf.codec import Unreadable, decode, encode
from speccache.second_level import Found

logger = logging.getLogger(__name__)

_PREFIX = "speccache:1"
"""Of every key; the number grows when what is kept under them changes its form."""

_LONGEST_SECONDS = 86_400.0
"""What nobody keeps for longer, see `browser.shelf.life`; whoever writes to the server may say otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCacheOptions:
    """How long a run waits for other workers.

    Attributes:
        target_seconds: How long the target waits for another worker's page: a fraction of what a page takes. Past it,
            two workers load the page.
        ahead_seconds: How long a speculation does; the target need not.
        unfit_seconds: For how long nobody is waited for whose page turned out not to be one that is kept.
        first_look_seconds: After which time it is looked again for a page that another worker is loading.
        longest_look_seconds: To what this grows.
    """

    target_seconds: float = 0.5
    ahead_seconds: float = 15.0
    unfit_seconds: float = 300.0
    first_look_seconds: float = 0.01
    longest_look_seconds: float = 0.05


@dataclass(slots=True, kw_only=True)
class _Turn:
    """This worker's turn to load a page."""

    lease: str
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    unfit: bool = False


class SharedCache:
    """One run's view of the server.

    Args:
        link: The connection; it stays its owner's.
        name_of: The environment's own `key`: how it would name a page now.
        part_chars: Length of one part of a page, in characters; what was cut otherwise is not found.
        named_hosts: Hosts the user named; pages of other private hosts are not returned.
        lets: Tells whether this run could load a page of an address; see `Admission`.
        options: How long it waits.
        clock: The time in seconds since 1970.

    Resource handling: owns nothing; what a run has claimed it releases itself, and what it has put there the link
    writes.
    """

    def __init__(
        self,
        link: CacheLink,
        *,
        name_of: Callable[[Visit], str | None],
        part_chars: int,
        named_hosts: Collection[str] = (),
        lets: Callable[[URL], Awaitable[bool]] | None = None,
        options: SharedCacheOptions = SharedCacheOptions(),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._link = link
        self._admission = Admission(name_of, part_chars=part_chars, named_hosts=named_hosts, lets=lets)
        self._options = options
        self._clock = clock
        self._turns: dict[Hashable, _Turn] = {}

    @property
    def target_seconds(self) -> float:
        """How long the target waits for another worker's page."""
        return self._options.target_seconds

    @property
    def ahead_seconds(self) -> float:
        """How long a speculation does."""
        return self._options.ahead_seconds

    async def claim(self, key: Hashable, /) -> Found[Observation] | None:
        """Return the page, as an anonymous visitor saw it, or None: then it is to be loaded, and released."""
        digest = self._digest(key)
        if digest is None:
            return None
        turn = _Turn(lease=f"{_PREFIX}:lease:{digest}")
        try:
            claim = await self._answer(f"{_PREFIX}:page:{digest}", turn)
        except CacheAway:
            self._give_back(turn)
            return None
        except asyncio.CancelledError:
            # The server may have given us the turn, and only its answer is lost.
            self._give_back(turn)
            raise
        if claim.kind == "yours":
            self._turns[key] = turn
        return await self._read(claim) if claim.kind == "page" else None

    async def _answer(self, page: str, turn: _Turn) -> Claim:
        look_seconds = self._options.first_look_seconds
        while (claim := await self._link.claim(page, turn.lease, turn.token)).kind == "theirs":
            await asyncio.sleep(look_seconds)
            look_seconds = min(1.5 * look_seconds, self._options.longest_look_seconds)
        return claim

    async def _read(self, claim: Claim) -> Found[Observation] | None:
        if not 0 < claim.remaining_seconds <= _LONGEST_SECONDS:
            return None
        try:
            observation = await self._link.in_thread(decode, claim.body)
        except Unreadable:
            return None  # as if it were not there: it is loaded, and written anew
        if not await self._admission.may_show(observation):
            return None
        return Found(value=observation, remaining_seconds=claim.remaining_seconds, level="shared")

    def put(self, key: Hashable, observation: Observation, /) -> None:
        """Write the page behind the run's back, if any other anonymous visitor may be shown it."""
        now_seconds = self._clock()
        lifetime_seconds = self._admission.keep_seconds(key, observation, now_seconds=now_seconds)
        digest = self._digest(key)
        if digest is None or lifetime_seconds <= 0:
            self.decline(key)
        elif self._link.takes_pages:
            page = f"{_PREFIX}:page:{digest}"
            expires_seconds = now_seconds + lifetime_seconds
            self._link.later(partial(self._write, page, observation, expires_seconds, self._turns.get(key)))

    async def _write(self, page: str, observation: Observation, expires_seconds: float, turn: _Turn | None) -> None:
        body = await self._encoded(observation)
        if body is not None:
            await self._link.keep(page, body, lifetime_seconds=expires_seconds - self._clock())
        elif turn is not None:
            turn.unfit = True  # it is released after this

    async def _encoded(self, observation: Observation) -> bytes | None:
        """Return a page as it is kept; None where it is none that is."""
        try:
            body = await self._link.in_thread(encode, observation)
        except Unreadable as error:
            logger.debug("not kept: %s: %s", observation.url, error)
            return None
        return body if len(body) <= self._link.options.max_page_bytes else None

    def decline(self, key: Hashable, /) -> None:
        """Let nobody wait for the page for a while, if this worker was to load it."""
        if key in self._turns:
            self._turns[key].unfit = True

    def release(self, key: Hashable, /) -> None:
        """Let others load the page, once what was put there is written."""
        turn = self._turns.pop(key, None)
        if turn is not None:
            self._give_back(turn)

    def _give_back(self, turn: _Turn) -> None:
        self._link.later(partial(self._release, turn))

    async def _release(self, turn: _Turn) -> None:
        unfit_seconds = self._options.unfit_seconds if turn.unfit else 0.0
        await self._link.release(turn.lease, turn.token, unfit_seconds=unfit_seconds)

    def _digest(self, key: Hashable) -> str | None:
        name = self._admission.name(key)
        return None if name is None else sha256(name.encode(errors="surrogatepass")).hexdigest()
