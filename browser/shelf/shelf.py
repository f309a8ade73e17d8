"""Pages kept on disk, so that a later run starts warm.

Invariant: only what a visitor without cookies saw is ever written or returned, and whatever is wrong with the file
costs the warmth, never the run.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable, Collection, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from yarl import URL

from browser.action import Visit
from browser.observation import Observation
from browser.shelf.admission import Admission
from browser.shelf.codec import decode, encode
from browser.shelf.file import ShelfFile, is_busy, is_damaged, set_aside
from speccache.second_level import Found

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShelfOptions:
    """How much is kept, and how long anything waits for it.

    Attributes:
        max_entries: Pages kept at most.
        max_bytes: Bytes these occupy together, compressed.
        patience_seconds: How long a lookup may take. One takes about a millisecond, a page load a hundred and more.
        close_seconds: How long closing waits for pages still being written.
    """

    max_entries: int = 2000
    max_bytes: int = 64 * 1024 * 1024
    patience_seconds: float = 0.05
    close_seconds: float = 2.0


class Shelf:
    """The second level of one walk through the web; several, of several processes, may share a file.

    Use it as `async with Shelf(path, …) as shelf:`, around the environment's life.

    Args:
        path: The file.
        name_of: The environment's own `key`: how it would name a page now.
        part_chars: Length of one part of a page, in characters; what was cut otherwise is not found.
        named_hosts: Hosts the user named; pages of other private hosts are not returned.
        lets: Tells whether this run could load a page of an address; see `Admission`.
        options: How much is kept.
        clock: The time in seconds since 1970.

    Resource handling: owns two threads, each with its connection: reading never waits for writing.
    Error handling: the first thing that goes wrong is told in a warning; from then on nothing is kept or found. A file
    that is damaged or no shelf is renamed, never deleted, and a new one begun: at once where that is seen on opening,
    else by the next run.
    """

    def __init__(
        self,
        path: Path,
        *,
        name_of: Callable[[Visit], str | None],
        part_chars: int,
        named_hosts: Collection[str] = (),
        lets: Callable[[URL], Awaitable[bool]] | None = None,
        options: ShelfOptions = ShelfOptions(),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = path
        self._admission = Admission(name_of, part_chars=part_chars, named_hosts=named_hosts, lets=lets)
        self._options = options
        self._clock = clock
        self._reads = ThreadPoolExecutor(1, thread_name_prefix="shelf-read")
        self._writes = ThreadPoolExecutor(1, thread_name_prefix="shelf-write")
        self._reader: ShelfFile | None = None
        self._writer: ShelfFile | None = None
        self._usable = False

    @property
    def patience_seconds(self) -> float:
        """How long a lookup may take."""
        return self._options.patience_seconds

    async def __aenter__(self) -> Shelf:
        try:
            await asyncio.wrap_future(self._writes.submit(self._open))
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.shield(asyncio.create_task(self._close(), name="close shelf"))

    async def get(self, key: Hashable, /) -> Found[Observation] | None:
        """Return the page under the key while it is fresh, as an anonymous visitor saw it."""
        name = self._admission.name(key)
        if name is None or not self._usable:
            return None
        found = await asyncio.wrap_future(self._reads.submit(self._read, name))
        return found if found is not None and await self._admission.may_show(found.value) else None

    def put(self, key: Hashable, observation: Observation, /) -> None:
        """Write the page behind the run's back, if any later anonymous visitor may be shown it."""
        now_seconds = self._clock()
        lifetime_seconds = self._admission.keep_seconds(key, observation, now_seconds=now_seconds)
        name = self._admission.name(key)
        if name is not None and self._usable and lifetime_seconds > 0:
            self._do(self._write, name, observation, now_seconds + lifetime_seconds)

    def _open(self) -> None:
        try:
            try:
                self._connect()
            except sqlite3.Error as error:
                if not is_damaged(error):
                    raise
                self._close_files()
                self._set_aside(error)
                self._connect()
        except (OSError, sqlite3.Error) as error:
            self._tell_trouble(error)

    def _connect(self) -> None:
        limits = self._options
        self._writer = ShelfFile(
            self._path, max_entries=limits.max_entries, max_bytes=limits.max_bytes, clock=self._clock
        )
        self._reader = ShelfFile(
            self._path, max_entries=limits.max_entries, max_bytes=limits.max_bytes, clock=self._clock
        )
        self._usable = True

    def _read(self, key: str) -> Found[Observation] | None:
        if self._reader is None:
            return None
        try:
            row = self._reader.get(key)
            if row is None:
                return None
            value = decode(row.body)
        except sqlite3.Error as error:
            self._do(self._give_up, error)
            return None
        except ValueError:
            return None  # as if it were not there: it is loaded, and written anew
        self._do(self._touch, key)
        return Found(value=value, remaining_seconds=row.remaining_seconds)

    def _do(self, work: Callable[..., None], *arguments: object) -> None:
        """Leave work to the writing thread, which alone changes the file, warns and gives up."""
        self._writes.submit(work, *arguments).add_done_callback(_tell_bug)

    def _write(self, key: str, observation: Observation, expires_seconds: float) -> None:
        if self._writer is None or not self._usable:
            return
        try:
            body = encode(observation)
            self._writer.put(key, body, lifetime_seconds=expires_seconds - self._clock())
        except sqlite3.Error as error:
            self._give_up(error)
        except ValueError:
            logger.debug("not kept, since it is no valid Unicode: %r", key)

    def _touch(self, key: str) -> None:
        if self._writer is None or not self._usable:
            return
        try:
            self._writer.touch(key)
        except sqlite3.Error as error:
            self._give_up(error)

    def _give_up(self, error: sqlite3.Error) -> None:
        if not self._usable or is_busy(error):
            return
        self._usable = False
        try:
            if is_damaged(error):
                self._set_aside(error)
            else:
                self._tell_trouble(error)
        except OSError as trouble:
            self._tell_trouble(trouble)

    def _set_aside(self, error: sqlite3.Error) -> None:
        aside = set_aside(self._path)
        logger.warning(
            "%s cannot be used as a shelf of pages (%s). It was renamed to %s; pages are loaded anew.",
            self._path,
            error,
            aside.name,
        )

    def _tell_trouble(self, error: Exception) -> None:
        logger.warning("No pages are kept in %s (%s); the run goes on without.", self._path, error)

    async def _close(self) -> None:
        # Reading ends first: what it leaves to be written comes before the other thread's end.
        for thread, last in ((self._reads, self._close_reader), (self._writes, self._close_files)):
            with suppress(TimeoutError):
                async with asyncio.timeout(self._options.close_seconds):
                    await asyncio.wrap_future(thread.submit(last))
            thread.shutdown(wait=False)
        self._usable = False

    def _close_reader(self) -> None:
        if self._reader is not None:
            self._reader.close()

    def _close_files(self) -> None:
        self._close_reader()  # once more: opening may have been under way before
        if self._writer is not None:
            self._writer.close()


def _tell_bug(done: Future[None]) -> None:
    if not done.cancelled() and (error := done.exception()) is not None:
        logger.error("the shelf did not do what it should", exc_info=error)
