"""Which SQL statements may be run ahead, and at which version of the database.

Invariant: SQLite decides, not a look at the text: a statement is judged by the program it compiles to and by what it
asks the authorizer for, and anything not known to be harmless is refused. Nothing here waits for a lock.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

SqlValue = None | int | float | str | bytes

_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}
_ALLOWED, _REFUSED = sqlite3.SQLITE_OK, sqlite3.SQLITE_DENY

# SQLite marks scalar functions that depend on their arguments alone (0x800). The marks leave out aggregates and
# full-text search, and take in the functions of time, which read the clock when they are given 'now' or nothing.
_DETERMINISTIC = "SELECT DISTINCT name FROM pragma_function_list WHERE type <> 's' OR flags & 0x800"
_FULL_TEXT = {"match", "bm25", "snippet", "highlight"}
_TIME = {"date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff"}


def connect(path: Path, *, mode: str, busy_seconds: float) -> sqlite3.Connection:
    """Open an existing database file.

    Args:
        path: The file, absolute.
        mode: `ro` to read only, `rw` to write too.
        busy_seconds: How long a statement waits for another connection's lock.
    """
    return sqlite3.connect(
        f"{path.as_uri()}?mode={mode}",
        uri=True,
        timeout=busy_seconds,
        isolation_level=None,  # every statement commits by itself
        cached_statements=0,  # a cached statement would not be compiled again, and so not be judged
    )


def _harmless_functions() -> frozenset[str]:
    with closing(sqlite3.connect(":memory:")) as connection:
        names = {name for (name,) in connection.execute(_DETERMINISTIC)}
    return frozenset((names | _FULL_TEXT) - _TIME)


class SqliteJudge:
    """Keeps one read-only connection, which compiles the statements it judges but runs none of them.

    Its version comes from `PRAGMA data_version`, which counts what all other connections, of any process, have
    committed, in every journal mode. Reading the change counter from the file would miss what a write-ahead log holds,
    and closing a descriptor of our own would drop SQLite's locks on the file (sqlite.org/howtocorrupt.html, 2.2).

    Args:
        path: The database file, absolute.

    Resource handling: owns its connection, opened when first needed; close it with `close()`.
    Error handling: `version` and `is_pure` raise OSError or sqlite3.Error where there is no usable database just now.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._file: os.stat_result | None = None
        self._files = 0
        self._harmless = _harmless_functions()
        self._closed = False

    def version(self) -> str:
        """Name the database's present state: equal names mean that nothing was committed in between."""
        (commits,) = self._open().execute("PRAGMA data_version").fetchone()
        return f"{self._files}.{commits}"

    def is_pure(self, sql: str, parameters: tuple[SqlValue, ...] = ()) -> bool:
        """Tell whether this is one statement that gives rows, changes nothing, and depends on the database alone."""
        connection, explain = self._open(), f"EXPLAIN {sql}"
        # Compiling trusts the schema as it was last read; only running a query reads it anew where it has changed.
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
        # Compiling also connects virtual tables, and that asks for more than the statement does: not yet judged.
        program = connection.execute(explain, parameters).fetchall()
        if all(opcode != "ResultRow" for _, opcode, *_ in program):  # VACUUM, for one, asks for nothing at all
            return False
        connection.set_authorizer(self._authorize)
        try:
            connection.execute(explain, parameters).close()
        except sqlite3.DatabaseError:
            return False
        finally:
            connection.set_authorizer(None)
        return True

    def _authorize(self, deed: int, subject: str | None, name: str | None, *_: str | None) -> int:
        if deed == sqlite3.SQLITE_FUNCTION:
            return _ALLOWED if name in self._harmless else _REFUSED
        # A pragma in the shape of a table may tell of the connection instead of the database.
        is_pragma = subject is not None and subject.startswith("pragma_")
        return _ALLOWED if deed in _READING and not is_pragma else _REFUSED

    def _open(self) -> sqlite3.Connection:
        """Return a connection to the file that is there now, which may have taken the place of an older one."""
        if self._closed:
            raise sqlite3.ProgrammingError("The judge is closed")
        file = self._path.stat()
        if self._connection is None or self._file is None or not os.path.samestat(file, self._file):
            self._disconnect()
            self._connection, self._file = connect(self._path, mode="ro", busy_seconds=0), file
            self._files += 1
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def close(self) -> None:
        """Close the connection; may be called twice."""
        self._closed = True
        self._disconnect()
