"""The shelf's file: bounds, time, several processes, and files that are none."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
from collections import OrderedDict
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from browser.shelf.file import Row, ShelfFile, is_busy, is_damaged, set_aside

WRITER = """
import sys
from pathlib import Path
from browser.shelf.file import ShelfFile
path, name = Path(sys.argv[1]), sys.argv[2]
file = ShelfFile(path, max_entries=50, max_bytes=1_000_000, busy_seconds=30)
print("ready", flush=True)
sys.stdin.readline()
for number in range(300):
    key = f"{name}-{number}"
    file.put(key, key.encode() * 100, lifetime_seconds=1000)
    row = file.get(key)
    assert row is None or row.body == key.encode() * 100
file.close()
"""

KEYS = st.sampled_from("abcdef")
STEPS = st.one_of(
    st.tuples(st.just("put"), KEYS, st.integers(0, 60), st.integers(1, 20)),
    st.tuples(st.just("get"), KEYS, st.just(0), st.just(0)),
    st.tuples(st.just("touch"), KEYS, st.just(0), st.just(0)),
    st.tuples(st.just("wait"), st.just(""), st.integers(0, 10), st.just(0)),
)


class Model:
    """What the file should hold, in plain dictionaries."""

    def __init__(self, *, max_entries: int, max_bytes: int) -> None:
        self.max_entries, self.max_bytes = max_entries, max_bytes
        self.rows: OrderedDict[str, tuple[bytes, float]] = OrderedDict()

    def put(self, key: str, body: bytes, expires_seconds: float, now_seconds: float) -> None:
        if len(key) + len(body) > self.max_bytes:
            return
        self.rows[key] = body, expires_seconds
        self.rows.move_to_end(key)
        for old in [old for old, (_, end) in self.rows.items() if end <= now_seconds]:
            del self.rows[old]
        while len(self.rows) > self.max_entries or self.size_bytes > self.max_bytes:
            self.rows.popitem(last=False)

    @property
    def size_bytes(self) -> int:
        return sum(len(key) + len(body) for key, (body, _) in self.rows.items())


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, max_size=25))
def test_it_does_what_an_lru_with_an_end_does(steps: list[tuple[str, str, int, int]]) -> None:
    now = [1000.0]
    model = Model(max_entries=3, max_bytes=100)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shelf"
        with closing(ShelfFile(path, max_entries=3, max_bytes=100, clock=lambda: now[0])) as file:
            for what, key, size, seconds in steps:
                if what == "wait":
                    now[0] += size
                elif what == "put":
                    file.put(key, b"x" * size, lifetime_seconds=seconds)
                    model.put(key, b"x" * size, now[0] + seconds, now[0])
                elif what == "touch":
                    file.touch(key)
                    if key in model.rows:
                        model.rows.move_to_end(key)
                body, end = model.rows.get(key, (b"", 0.0))
                assert file.get(key) == (Row(body=body, remaining_seconds=end - now[0]) if end > now[0] else None)
            with closing(sqlite3.connect(path)) as other:
                rows = other.execute("SELECT key, size_bytes FROM page ORDER BY used").fetchall()
    assert rows == [(key, len(key) + len(body)) for key, (body, _) in model.rows.items()]


def test_what_is_kept_outlives_the_connection_and_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "shelf"
    with closing(ShelfFile(path, max_entries=3, max_bytes=100, clock=lambda: 10.0)) as file:
        assert file.put("a", b"body", lifetime_seconds=5)
        assert not file.put("b", b"x" * 100, lifetime_seconds=5), "larger than all may be together"
        assert not file.put("b", b"body", lifetime_seconds=0)
    assert path.stat().st_mode & 0o077 == 0
    with closing(ShelfFile(path, max_entries=3, max_bytes=100, clock=lambda: 12.0)) as file:
        assert file.get("a") == Row(body=b"body", remaining_seconds=3.0)
    with closing(ShelfFile(path, max_entries=3, max_bytes=100, clock=lambda: 9.0)) as file:
        assert file.get("a") is None, "the clock was put back: nobody knows how old it is"


def test_two_processes_write_and_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "shelf"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in ("one", "two")
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=60)
    assert [writer.returncode for writer in writers] == [0, 0]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        rows = connection.execute("SELECT key, body FROM page").fetchall()
    assert len(rows) == 50
    assert all(body == key.encode() * 100 for key, body in rows)


def test_a_write_that_has_to_wait_too_long_is_told_from_damage(tmp_path: Path) -> None:
    path = tmp_path / "shelf"
    with (
        closing(ShelfFile(path, max_entries=3, max_bytes=100, busy_seconds=0.01)) as file,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        file.put("a", b"body", lifetime_seconds=100)
        other.execute("BEGIN IMMEDIATE")
        assert file.get("a") is not None, "a reader does not wait"
        with pytest.raises(sqlite3.OperationalError) as error:
            file.put("b", b"body", lifetime_seconds=5)
        assert is_busy(error.value)
        assert not is_damaged(error.value)
        other.execute("ROLLBACK")
        assert file.put("b", b"body", lifetime_seconds=5)


def _text(path: Path) -> None:
    path.write_text("This is my diary, and no database at all. " * 100)


def _truncated(path: Path) -> None:
    with closing(ShelfFile(path, max_entries=100, max_bytes=1_000_000)) as file:
        for number in range(50):
            file.put(str(number), b"x" * 5000, lifetime_seconds=1000)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def _of_another_program(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmark (url)")


def _of_another_version(path: Path) -> None:
    ShelfFile(path, max_entries=1, max_bytes=100).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")


@pytest.mark.parametrize("spoil", [_text, _truncated, _of_another_program, _of_another_version])
def test_a_file_that_is_no_shelf_is_told_and_can_be_set_aside(tmp_path: Path, spoil: object) -> None:
    path = tmp_path / "shelf"
    assert callable(spoil)
    spoil(path)
    content = path.read_bytes()
    with pytest.raises(sqlite3.DatabaseError) as error:
        ShelfFile(path, max_entries=3, max_bytes=100)
    assert is_damaged(error.value)
    aside = set_aside(path)
    assert aside.read_bytes() == content
    with closing(ShelfFile(path, max_entries=3, max_bytes=100)) as file:
        assert file.put("a", b"body", lifetime_seconds=5)


def test_what_is_only_in_the_way_is_no_damage(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(sqlite3.OperationalError) as error:
        ShelfFile(tmp_path / "folder", max_entries=3, max_bytes=100)
    assert not is_damaged(error.value)
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"exists|directory"):
        ShelfFile(tmp_path / "file" / "shelf", max_entries=3, max_bytes=100)
