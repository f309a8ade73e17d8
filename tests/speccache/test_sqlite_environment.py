"""SQL: queries run ahead, anything else never, and no result outlives its version of the database."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from speccache import Event, EventKind, Guess, SpeculativeEnvironment, Step, Unspeculable
from speccache.read_environment import ReadEnvironment
from speccache.sqlite_environment import Query, Rows, sqlite_environment
from tests.conformance import check_law
from tests.speccache.progress import until

Database = ReadEnvironment[Query, Rows]

ALL = Query("SELECT id, name FROM item ORDER BY id")
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT id FROM item UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n"
SCHEMA = """
    CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT);
    INSERT INTO item (name) VALUES ('lamp'), ('chair');
    CREATE VIEW dice AS SELECT random() AS eyes;
    CREATE VIEW large AS SELECT name FROM item WHERE id > 1;
"""


@pytest.fixture(params=["delete", "wal"])
def path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "what? a #shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode = {request.param}")
        connection.executescript(SCHEMA)
    return path


@pytest.fixture
async def database(path: Path) -> AsyncIterator[Database]:
    environment = sqlite_environment(path)
    yield environment
    await environment.aclose()


def execute(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(sql)


async def execute_elsewhere(path: Path, sql: str) -> None:
    """Run a statement in another process."""
    script = "import sqlite3, sys; sqlite3.connect(sys.argv[1], isolation_level=None).execute(sys.argv[2])"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, str(path), sql)
    assert await process.wait() == 0


def content(path: Path) -> bytes:
    return path.read_bytes()


def is_in_use(path: Path) -> bool:
    """Whether some statement is reading the database just now; with a rollback journal only."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as connection:
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            return True
        return False


async def test_it_keeps_the_law(path: Path) -> None:
    copies = 0

    async def fresh() -> Database:
        nonlocal copies
        copies += 1
        return sqlite_environment(shutil.copy(path, path.with_name(f"{copies}.db")))

    insert = Query("INSERT INTO item (name) VALUES (?)", ("desk",))
    await check_law(fresh, first=ALL, then=[ALL, insert, ALL, Query("no SQL"), Query("SELECT count(*) FROM large")])


async def test_rows_come_with_their_columns(database: Database) -> None:
    assert await database.peek(ALL) == Rows(columns=("id", "name"), rows=((1, "lamp"), (2, "chair")))
    assert (await database.step(Query("DELETE FROM item"))).changed == 2


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "  select name from item where id = 1 ; -- the lamp",
        "/* a comment */ SELECT max(name), count(*), json_group_array(id) FROM item GROUP BY id HAVING count(*) = 1",
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 5) SELECT i FROM n",
        "VALUES (1), (2)",
        "SELECT * FROM large",
        "SELECT value FROM json_each('[1, 2]')",
        "SELECT row_number() OVER (ORDER BY name) FROM item",
        "SELECT name FROM item WHERE name LIKE 'l%' UNION SELECT upper(name) FROM item",
    ],
)
async def test_a_pure_query_is_run_ahead(database: Database, sql: str) -> None:
    assert database.key(Query(sql)) == database.key(Query(sql)) is not None
    assert (await database.peek(Query(sql))).rows


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO item (name) VALUES ('x')",
        "INSERT INTO item (name) VALUES ('x') RETURNING id",
        "WITH x AS (SELECT 1) DELETE FROM item",
        "DELETE FROM item RETURNING *",
        "REPLACE INTO item VALUES (1, 'x')",
        "CREATE TABLE t AS SELECT 1",
        "DROP TABLE item",
        "VACUUM",
        "VACUUM INTO (SELECT 'copy.db')",
        "ANALYZE",
        "REINDEX",
        "BEGIN",
        "SAVEPOINT s",
        "ATTACH 'other.db' AS other",
        "PRAGMA user_version = 3",
        "PRAGMA table_info(item)",
        "SELECT * FROM pragma_wal_checkpoint",
        "SELECT * FROM pragma_table_info('item')",
        "EXPLAIN SELECT 1",
        "QUERY PLAN SELECT 1",
        "SELECT 1; DELETE FROM item",
        "SELECT load_extension('x')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT random()",
        "SELECT eyes FROM dice",
        "SELECT name FROM item ORDER BY RANDOM()",
        "SELECT hex(randomblob(4))",
        "SELECT CURRENT_TIMESTAMP",
        "SELECT datetime('now')",
        "SELECT strftime('%Y') FROM item",
        "SELECT last_insert_rowid(), changes()",
        "SELECT * FROM missing",
        "SELECT ?",
        "SELEC 1",
        "",
        "-- nothing",
        "SELECT '\0'",
        "SELECT '\ud800'",
    ],
)
async def test_anything_else_never_is(database: Database, path: Path, sql: str) -> None:
    before = content(path)
    assert database.key(Query(sql)) is None
    with pytest.raises(Unspeculable, match="no-key"):
        await database.peek(Query(sql))
    assert content(path) == before


async def test_full_text_search_is_run_ahead(database: Database) -> None:
    await database.step(Query("CREATE VIRTUAL TABLE note USING fts5(text)"))
    await database.step(Query("INSERT INTO note VALUES ('a lamp in the hall')"))
    search = Query("SELECT snippet(note, 0, '<', '>', '', 9) FROM note(?) ORDER BY bm25(note)", ("lamp",))
    assert (await database.peek(search)).rows == (("a <lamp> in the hall",),)


async def test_parameters_are_told_apart_by_type(database: Database) -> None:
    kinds = {database.key(Query("SELECT typeof(?)", (value,))) for value in (1, 1.0, "1", b"1", None)}
    assert len(kinds) == 5
    assert (await database.peek(Query("SELECT typeof(?)", (1.0,)))).rows == (("real",),)


async def test_every_commit_makes_older_results_unusable(database: Database, path: Path) -> None:
    keys = [database.key(ALL)]
    await database.step(Query("UPDATE item SET name = 'stool' WHERE id = 2"))
    keys.append(database.key(ALL))
    execute(path, "INSERT INTO item (name) VALUES ('desk')")
    keys.append(database.key(ALL))
    await execute_elsewhere(path, "DELETE FROM item WHERE id = 1")
    keys.append(database.key(ALL))
    assert None not in keys
    assert len(set(keys)) == 4
    assert database.key(ALL) == keys[-1]
    assert (await database.peek(ALL)).rows == ((2, "stool"), (3, "desk"))


async def test_a_kept_result_is_not_served_after_another_process_wrote(database: Database, path: Path) -> None:
    class Again:
        name = "again"

        async def predict(self, trajectory: Sequence[Step[Query, Rows]]) -> AsyncIterator[Guess[Query]]:
            drop = Query("DROP TABLE item")
            for rank, query in enumerate([drop, Query("SELECT count(*) FROM item")], start=1):
                yield Guess(action=query, predictor=self.name, rank=rank)

    events: list[Event] = []
    environment = SpeculativeEnvironment(database, predictors=[Again()], listener=events.append)
    await environment.step(ALL)
    await until(events, EventKind.LOAD)
    await execute_elsewhere(path, "INSERT INTO item (name) VALUES ('desk')")
    assert (await environment.step(Query("SELECT count(*) FROM item"))).rows == ((3,),)
    assert (await environment.step(Query("SELECT count(*) FROM item"))).rows == ((3,),)
    await environment.aclose()
    steps = [event.kind for event in events if event.kind in {EventKind.MISS, EventKind.HIT, EventKind.JOIN}]
    assert steps == [EventKind.MISS, EventKind.MISS, EventKind.HIT]
    assert {event.reason for event in events if event.kind is EventKind.REFUSE} == {"no-key"}


async def test_a_changed_schema_is_judged_anew(database: Database, path: Path) -> None:
    query = Query("SELECT * FROM large")
    assert database.key(query) is not None
    execute(path, "DROP VIEW large")
    assert database.key(query) is None
    execute(path, "CREATE VIEW large AS SELECT random()")
    assert database.key(query) is None


async def test_a_file_in_the_place_of_another_is_another_database(database: Database, path: Path) -> None:
    keys = {database.key(ALL)}
    for turn in range(3):
        other = path.with_name("other.db")
        execute(other, "CREATE TABLE item (id, name)")
        execute(other, f"INSERT INTO item VALUES (7, 'from {turn}')")
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        other.replace(path)
        keys.add(database.key(ALL))
        assert (await database.peek(ALL)).rows == ((7, f"from {turn}"),)
    assert None not in keys
    assert len(keys) == 4


async def test_a_missing_file_is_a_problem_and_is_not_created(tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    database = sqlite_environment(path)
    assert database.key(ALL) is None
    assert (await database.step(ALL)).problem == "unable to open database file"
    assert not path.exists()
    execute(path, "CREATE TABLE item (id, name)")
    assert database.key(ALL) is not None
    await database.aclose()
    assert database.key(ALL) is None


@pytest.mark.parametrize("path", ["delete"], indirect=True)
async def test_a_locked_database_has_no_version_and_a_step_waits_for_it(database: Database, path: Path) -> None:
    assert database.key(ALL) is not None
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        assert database.key(ALL) is None
        step = asyncio.create_task(database.step(ALL))
        await asyncio.sleep(0)
        writer.execute("INSERT INTO item (name) VALUES ('desk')")
        writer.execute("COMMIT")
        assert len((await step).rows) == 3


async def test_nothing_of_a_connection_lasts_longer_than_its_statement(database: Database) -> None:
    for sql in ("BEGIN", "CREATE TEMP TABLE item AS SELECT 1 AS id", "PRAGMA case_sensitive_like = ON"):
        assert (await database.step(Query(sql))).problem is None
    await database.step(Query("INSERT INTO item (name) VALUES ('desk')"))
    assert len((await database.step(ALL)).rows) == 3
    assert (await database.step(Query("SELECT name FROM item WHERE name LIKE 'LAMP'"))).rows == (("lamp",),)


async def test_a_result_is_cut_at_its_limit(path: Path) -> None:
    database = sqlite_environment(path, max_rows=1)
    rows = await database.step(ALL)
    assert (rows.rows, rows.truncated) == (((1, "lamp"),), True)
    assert rows.size_bytes > 0
    returned = await database.step(Query("INSERT INTO item (name) VALUES ('desk'), ('bed') RETURNING id"))
    assert returned.truncated
    assert (await database.step(Query("SELECT count(*) FROM item"))).rows == ((4,),)
    await database.aclose()


async def test_a_failure_is_a_problem(database: Database) -> None:
    assert (await database.step(Query("SELECT * FROM missing"))).problem == "no such table: missing"
    assert (await database.step(Query("SELECT ?", (2**70,)))).problem
    assert (await database.step(Query("SELECT 1; SELECT 2"))).problem
    with pytest.raises(Unspeculable, match="failed"):
        await database.peek(Query("SELECT abs(-9223372036854775808) FROM item"))


async def test_a_statement_has_a_time_limit(path: Path) -> None:
    database = sqlite_environment(path, timeout_seconds=0.05)
    assert (await database.step(Query(ENDLESS))).problem == "took longer than 0.05 s"
    await database.aclose()


@pytest.mark.parametrize("path", ["delete"], indirect=True)
async def test_a_cancelled_statement_has_ended(database: Database, path: Path) -> None:
    update = f"UPDATE item SET name = 'lost' WHERE id = ({ENDLESS})"
    for act, query in ((database.peek, ENDLESS), (database.step, ENDLESS), (database.step, update)):
        task = asyncio.create_task(act(Query(query)))
        while not is_in_use(path):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not is_in_use(path)
    assert (await database.step(ALL)).rows == ((1, "lamp"), (2, "chair"))


def test_a_query_shows_its_parameters() -> None:
    assert [str(Query("SELECT 1")), str(Query("SELECT ?", (1,)))] == ["SELECT 1", "SELECT ? (1,)"]
