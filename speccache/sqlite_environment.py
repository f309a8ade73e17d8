"""An SQLite database, its queries run ahead of time.

Invariant: a kept result is what the query gives now. Only a statement that SQLite itself says is one read-only,
deterministic query has a key, and the key carries the database's version, which every commit by anybody changes. Each
statement runs on a connection of its own, so the file is all the state there is: no open transaction, temporary table
or setting can make two connections see different things.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from speccache.read_environment import ReadEnvironment
from speccache.sqlite_judge import SqliteJudge, SqlValue, connect
from speccache.threads import Threads

# Whatever a wrong statement or parameter can raise; all of it is the agent's mistake, or the database's state.
_FAILURES = (sqlite3.Error, sqlite3.Warning, OverflowError, ValueError)


@dataclass(frozen=True, slots=True)
class Query:
    """One SQL statement.

    Attributes:
        sql: Its text.
        parameters: Values of its placeholders, in order.
    """

    sql: str
    parameters: tuple[SqlValue, ...] = ()

    def __str__(self) -> str:
        return f"{self.sql} {self.parameters}" if self.parameters else self.sql


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What a statement gave.

    Attributes:
        columns: Names of the columns; empty where the statement gives no rows.
        rows: The rows.
        truncated: Whether there were more rows than are kept.
        changed: How many rows it changed.
        problem: Why it gave nothing, in a sentence; None if it was done.
    """

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[SqlValue, ...], ...] = ()
    truncated: bool = False
    changed: int = 0
    problem: str | None = None

    @property
    def size_bytes(self) -> int:
        """What the values occupy in memory."""
        return sum(sys.getsizeof(value) for row in self.rows for value in row)

    @property
    def refusal(self) -> str | None:
        """Why this must not be kept; None if it may be."""
        return None if self.problem is None else "failed"


def sqlite_environment(
    path: str | Path, *, max_rows: int = 1000, timeout_seconds: float = 30.0, busy_seconds: float = 5.0
) -> ReadEnvironment[Query, Rows]:
    """Make an environment of a database file.

    Args:
        path: The file; it need not exist yet, but no statement creates it.
        max_rows: Rows kept of one result at most.
        timeout_seconds: How long a statement may take.
        busy_seconds: How long a statement waits for another connection's lock.

    Resource handling: the environment's `aclose()` closes its connection and ends its threads.
    Cancellation: interrupts the statement and waits for its end, `busy_seconds` at most where it waits for a lock. A
    write is then done as a whole or not at all.
    """
    database = _Database(
        Path(path).absolute(), max_rows=max_rows, timeout_seconds=timeout_seconds, busy_seconds=busy_seconds
    )
    return ReadEnvironment(
        database.read,
        key=database.key,
        write=database.write,
        refuse=lambda rows: rows.refusal,
        close=database.aclose,
    )


class _Database:
    def __init__(self, path: Path, *, max_rows: int, timeout_seconds: float, busy_seconds: float) -> None:
        self._path = path
        self._max_rows = max_rows
        self._timeout_seconds = timeout_seconds
        self._busy_seconds = busy_seconds
        self._judge = SqliteJudge(path)
        self._threads = Threads("sqlite")

    def key(self, query: Query) -> str | None:
        try:
            # The version first: if the schema changes in between, the verdict is newer, and `peek` notices the change.
            version = self._judge.version()
            pure = self._judge.is_pure(query.sql, query.parameters)
        except (OSError, *_FAILURES):  # no such file, no such table, no SQL, locked just now: `step` will tell
            return None
        # By repr, since 1, 1.0 and True are equal, but not the same to SQLite.
        return f"{query!r} at {version}" if pure else None

    async def read(self, query: Query) -> Rows:
        return await self._run(query, mode="ro")

    async def write(self, query: Query) -> Rows:
        return await self._run(query, mode="rw")

    async def _run(self, query: Query, *, mode: str) -> Rows:
        statement = _Statement(self._path, query, mode=mode, max_rows=self._max_rows, busy_seconds=self._busy_seconds)
        try:
            async with asyncio.timeout(self._timeout_seconds):
                return await self._threads.run(statement.run, interrupt=statement.interrupt)
        except TimeoutError:
            return Rows(problem=f"took longer than {self._timeout_seconds:g} s")

    async def aclose(self) -> None:
        self._judge.close()
        self._threads.close()


class _Statement:
    """One statement on a connection of its own: runs in a thread, is interrupted from outside."""

    def __init__(self, path: Path, query: Query, *, mode: str, max_rows: int, busy_seconds: float) -> None:
        self._path = path
        self._query = query
        self._mode = mode
        self._max_rows = max_rows
        self._busy_seconds = busy_seconds
        self._connection: sqlite3.Connection | None = None

    def run(self) -> Rows:
        try:
            with closing(connect(self._path, mode=self._mode, busy_seconds=self._busy_seconds)) as self._connection:
                return self._fetch(self._connection.execute(self._query.sql, self._query.parameters))
        except _FAILURES as error:
            return Rows(problem=str(error))

    def _fetch(self, cursor: sqlite3.Cursor) -> Rows:
        rows = cursor.fetchmany(self._max_rows + 1)
        return Rows(
            columns=tuple(name for name, *_ in cursor.description or ()),
            rows=tuple(rows[: self._max_rows]),
            truncated=len(rows) > self._max_rows,
            changed=max(cursor.rowcount, 0),
        )

    def interrupt(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.ProgrammingError):  # closed meanwhile
                self._connection.interrupt()
