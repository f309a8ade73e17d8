"""The file behind the shelf: an SQLite database of byte strings with an end to their use.

Invariant: whatever is committed keeps both bounds, in entries and in bytes, and no row is returned outside its time.

SQLite, since it is what the standard library has for a file that several processes write at once and that a crash
leaves whole. No cache library: the known ones pickle, so that whoever can write to the file can run code.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_APPLICATION_ID = 0x53504343  # "SPCC", in the file's header
_SCHEMA_VERSION = 1
_SCHEMA = """
    CREATE TABLE page (
        key TEXT PRIMARY KEY NOT NULL,
        used INTEGER NOT NULL,
        size_bytes INTEGER NOT NULL,
        stored_seconds REAL NOT NULL,
        expires_seconds REAL NOT NULL,
        body BLOB NOT NULL
    );
    CREATE INDEX page_use ON page (used, size_bytes);
"""

# Uses are counted, not timed: clocks have ties, and jump.
_NEXT_USE = "(SELECT coalesce(max(used), 0) + 1 FROM page)"
_GET = "SELECT body, expires_seconds FROM page WHERE key = ? AND stored_seconds <= ? AND expires_seconds > ?"
_PUT = f"INSERT OR REPLACE INTO page VALUES (?, {_NEXT_USE}, ?, ?, ?, ?)"  # noqa: S608 - nothing in it comes from outside
_TOUCH = f"UPDATE page SET used = {_NEXT_USE} WHERE key = ?"  # noqa: S608 - nothing in it comes from outside
_EXPIRE = "DELETE FROM page WHERE stored_seconds > ? OR expires_seconds <= ?"
_TRIM = """
    DELETE FROM page WHERE key IN (
        SELECT key FROM (
            SELECT key, row_number() OVER recent AS entries, sum(size_bytes) OVER recent AS bytes
            FROM page WINDOW recent AS (ORDER BY used DESC ROWS UNBOUNDED PRECEDING)
        ) WHERE entries > ? OR bytes > ?
    )
"""


class ForeignFile(sqlite3.DatabaseError):
    """The file is a database of another program, or of another version of this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What the file holds under a key.

    Attributes:
        body: The bytes.
        remaining_seconds: For how long they may still be used; more than 0.
    """

    body: bytes
    remaining_seconds: float


class ShelfFile:
    """One connection to the file; to be used by one thread at a time.

    Args:
        path: The file; it and its folder are made where they are missing, for their owner's eyes only.
        max_entries: How many rows it holds at most.
        max_bytes: How many bytes these occupy together, keys included; a single larger one is not kept.
        busy_seconds: How long a write waits for another process's.
        clock: The time in seconds since 1970, the same for every process.

    Resource handling: owns its connection; close it with `close()`.
    Error handling: everything raises OSError or sqlite3.Error where the file cannot be used; see `is_damaged`.
    """

    def __init__(
        self,
        path: Path,
        *,
        max_entries: int,
        max_bytes: int,
        busy_seconds: float = 1.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.max_entries = max_entries
        self.max_bytes = max_bytes
        self._clock = clock
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)  # which pages were read is nobody else's business
        self._connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None, check_same_thread=False)
        try:
            self._prepare()
        except sqlite3.Error:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        self._connection.execute("PRAGMA trusted_schema = OFF")
        self._connection.execute("PRAGMA synchronous = NORMAL")  # a power cut may cost the last pages, never the file
        with self._transaction():
            marks = self._number("PRAGMA application_id"), self._number("PRAGMA user_version")
            if marks != (_APPLICATION_ID, _SCHEMA_VERSION):
                if any(marks) or self._number("SELECT count(*) FROM sqlite_master"):
                    raise ForeignFile("it is no shelf of this version")
                for statement in _SCHEMA.split(";"):
                    self._connection.execute(statement)
                self._connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                self._connection.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")
            self._expire()
        # Readers then never wait for a writer. Where another process is just doing the same, it works without, too.
        with suppress(sqlite3.OperationalError):
            self._connection.execute("PRAGMA journal_mode = WAL")

    def get(self, key: str) -> Row | None:
        """Return the row under the key, if its time has come and is not over."""
        now_seconds = self._clock()
        with closing(self._connection.execute(_GET, (key, now_seconds, now_seconds))) as rows:
            row = rows.fetchone()
        return None if row is None else Row(body=row[0], remaining_seconds=row[1] - now_seconds)

    def put(self, key: str, body: bytes, *, lifetime_seconds: float) -> bool:
        """Keep bytes, at the cost of the least recently used ones; tells whether they were kept."""
        size_bytes = len(key.encode()) + len(body)
        if size_bytes > self.max_bytes or self.max_entries < 1 or lifetime_seconds <= 0:
            return False
        now_seconds = self._clock()
        with self._transaction():
            self._connection.execute(_PUT, (key, size_bytes, now_seconds, now_seconds + lifetime_seconds, body))
            self._expire()
            self._connection.execute(_TRIM, (self.max_entries, self.max_bytes))
        return True

    def touch(self, key: str) -> None:
        """Make the row under the key the most recently used."""
        self._connection.execute(_TOUCH, (key,))

    def _expire(self) -> None:
        now_seconds = self._clock()
        self._connection.execute(_EXPIRE, (now_seconds, now_seconds))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Hold the write lock from the beginning: what is read inside cannot be outdated when it is written."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:  # SQLite has ended it itself where the disk is full
                self._connection.execute("ROLLBACK")
            raise

    def _number(self, sql: str) -> int:
        with closing(self._connection.execute(sql)) as rows:
            return int(rows.fetchone()[0])

    def close(self) -> None:
        """Close the connection; may be called twice."""
        self._connection.close()


def is_damaged(error: Exception) -> bool:
    """Tell whether an error means that the file is no shelf, or no longer a whole one; else something is in the way."""
    damage = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    return isinstance(error, ForeignFile) or getattr(error, "sqlite_errorcode", 0) & 0xFF in damage


def is_busy(error: Exception) -> bool:
    """Tell whether an error means that another process is writing just now."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


def set_aside(path: Path) -> Path:
    """Rename the file out of the way, with what belongs to it, and return where it is now.

    Raises:
        OSError: It cannot be renamed.
    """
    aside = path.with_name(f"{path.name}.unusable-{time.time_ns()}")
    path.rename(aside)
    for suffix in ("-wal", "-shm"):
        # A new file beside the old one's log would take the log for its own.
        with suppress(FileNotFoundError):
            Path(f"{path}{suffix}").rename(f"{aside}{suffix}")
    return aside
