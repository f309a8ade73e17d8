"""Verdicts kept on disk, so that the same answer is judged once: in any mode, any process, any run.

Invariant: the first verdict on an answer stands, whoever asked for it. A file that cannot be used costs verdicts, never
a run.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from browser.shelf.file import is_damaged, set_aside

logger = logging.getLogger(__name__)

_BUSY_SECONDS = 5.0
_SCHEMA = "CREATE TABLE IF NOT EXISTS verdict (key TEXT PRIMARY KEY, correct INTEGER NOT NULL, reason TEXT NOT NULL)"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptVerdict:
    """What was judged, and why."""

    correct: bool
    reason: str


class VerdictCache:
    """Keeps verdicts in a file that other processes may use at the same time, from any thread.

    Args:
        path: The file; it and its folder are made where they are missing.

    Resource handling: holds nothing open between two calls. Each may wait for another process: not for the event loop.
    Error handling: a damaged file is set aside. Where a file cannot be used at all nothing is kept. Both are warned of.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_warned = False

    def get(self, key: str) -> KeptVerdict | None:
        """Return the verdict under a key."""
        return self._used(lambda connection: _read(connection, key))

    def keep(self, key: str, verdict: KeptVerdict) -> KeptVerdict:
        """Keep a verdict, unless there is one, and return the one that stands."""

        def write(connection: sqlite3.Connection) -> KeptVerdict | None:
            row = (key, verdict.correct, verdict.reason)
            connection.execute("INSERT OR IGNORE INTO verdict VALUES (?, ?, ?)", row)
            return _read(connection, key)

        return self._used(write) or verdict

    def _used(self, work: Callable[[sqlite3.Connection], KeptVerdict | None]) -> KeptVerdict | None:
        try:
            try:
                return self._connected(work)
            except sqlite3.DatabaseError as error:
                if not is_damaged(error):
                    raise
            return self._mended(work)
        except (OSError, sqlite3.Error) as error:
            if not self._is_warned:
                logger.warning("No verdicts are kept in %s (%s); answers are judged again.", self._path, error)
            self._is_warned = True
            return None

    def _mended(self, work: Callable[[sqlite3.Connection], KeptVerdict | None]) -> KeptVerdict | None:
        with FileLock(f"{self._path}.lock", timeout=_BUSY_SECONDS):
            try:
                return self._connected(work)  # another process may have mended it since
            except sqlite3.DatabaseError as error:
                if not is_damaged(error):
                    raise
                aside = set_aside(self._path)
                logger.warning(
                    "%s cannot be read (%s). It was renamed to %s; answers are judged again.",
                    self._path,
                    error,
                    aside.name,
                )
            return self._connected(work)

    def _connected(self, work: Callable[[sqlite3.Connection], KeptVerdict | None]) -> KeptVerdict | None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)) as connection:
            connection.execute(_SCHEMA)
            return work(connection)


def _read(connection: sqlite3.Connection, key: str) -> KeptVerdict | None:
    row = connection.execute("SELECT correct, reason FROM verdict WHERE key = ?", (key,)).fetchone()
    return None if row is None else KeptVerdict(correct=bool(row[0]), reason=row[1])
