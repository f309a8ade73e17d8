"""Files below one folder: what is kept is what the file says now."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from speccache import Account, Event, EventKind, Guess, SpeculativeEnvironment, Step, Unspeculable
from speccache.file_environment import FileAction, FileText, ReadFile, WriteFile, file_environment
from speccache.read_environment import ReadEnvironment
from tests.conformance import check_law
from tests.speccache.progress import until

Files = ReadEnvironment[FileAction, FileText]


def later() -> float:
    """The time of day long after the files of a test were made."""
    return time.time() + 60


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text("first")
    (folder / "deep" / "b.txt").write_text("second")
    (tmp_path / "secret.txt").write_text("secret")
    return folder


@pytest.fixture
async def files(folder: Path) -> AsyncIterator[Files]:
    environment = file_environment(folder, clock=later, max_bytes=100)
    yield environment
    await environment.aclose()


async def test_it_keeps_the_law(folder: Path) -> None:
    async def fresh() -> Files:
        return file_environment(folder, clock=later)

    write = WriteFile("a.txt", "third")
    await check_law(fresh, first=ReadFile("a.txt"), then=[ReadFile("deep/b.txt"), write, ReadFile("a.txt")])


async def test_a_guess_is_a_hit_and_a_write_is_never_run_ahead(folder: Path, files: Files) -> None:
    class Everything:
        name = "everything"

        async def predict(self, _trajectory: Sequence[Step[FileAction, FileText]]) -> AsyncIterator[Guess[FileAction]]:
            actions: list[FileAction] = [WriteFile("a.txt", "guessed"), ReadFile("deep/b.txt")]
            for rank, action in enumerate(actions, start=1):
                yield Guess(action=action, predictor=self.name, rank=rank)

    events: list[Event] = []
    environment = SpeculativeEnvironment(files, predictors=[Everything()], listener=events.append)
    await environment.step(ReadFile("a.txt"))
    await until(events, EventKind.LOAD)
    assert (await environment.step(ReadFile("deep/b.txt"))).text == "second"
    await environment.aclose()
    account = Account()
    for event in events:
        account(event)
    assert (account.hits, account.misses) == (1, 1)
    assert account.refusals["no-key"] >= 1
    assert (folder / "a.txt").read_text() == "first"


async def test_a_change_by_anybody_is_seen(folder: Path, files: Files) -> None:
    read = ReadFile("a.txt")
    keys = {files.key(read)}
    (folder / "a.txt").write_text("other")
    keys.add(files.key(read))
    stamps = (folder / "a.txt").stat()
    (folder / "new.txt").write_text("OTHER")
    os.utime(folder / "new.txt", ns=(stamps.st_atime_ns, stamps.st_mtime_ns))
    (folder / "new.txt").replace(folder / "a.txt")
    keys.add(files.key(read))
    assert None not in keys
    assert len(keys) == 3


async def test_a_file_changed_just_now_has_no_key_yet(folder: Path) -> None:
    now = [(folder / "a.txt").stat().st_ctime + 1.9]
    files = file_environment(folder, clock=lambda: now[0])
    assert files.key(ReadFile("a.txt")) is None
    assert (await files.step(ReadFile("a.txt"))).text == "first"
    now[0] += 0.2
    assert files.key(ReadFile("a.txt")) is not None
    await files.aclose()


@pytest.mark.parametrize("path", ["../secret.txt", "out/secret.txt", "link.txt", "deep/../../secret.txt", "loop"])
async def test_nothing_outside_of_the_folder_is_read_or_written(folder: Path, files: Files, path: str) -> None:
    (folder / "out").symlink_to(folder.parent)
    (folder / "link.txt").symlink_to(folder.parent / "secret.txt")
    (folder / "loop").symlink_to(folder / "loop")
    assert files.key(ReadFile(path)) is None
    assert (await files.step(ReadFile(path))).problem
    assert (await files.step(WriteFile(path, "overwritten"))).problem
    assert (folder.parent / "secret.txt").read_text() == "secret"


async def test_an_absolute_path_is_held_to_the_folder_too(folder: Path, files: Files) -> None:
    assert (await files.step(ReadFile(str(folder.parent / "secret.txt")))).problem == "Outside of the folder"
    assert (await files.step(ReadFile(str(folder / "a.txt")))).text == "first"


async def test_a_link_within_the_folder_is_followed(folder: Path, files: Files) -> None:
    (folder / "inner.txt").symlink_to(folder / "deep" / "b.txt")
    assert (await files.peek(ReadFile("inner.txt"))).text == "second"


async def test_what_cannot_be_read_is_a_problem(folder: Path, files: Files) -> None:
    (folder / "long.txt").write_text("x" * 101)
    (folder / "binary").write_bytes(b"\xff\xfe")
    os.mkfifo(folder / "pipe")
    problems = {path: (await files.step(ReadFile(path))).problem or "" for path in ("none", "deep", "pipe", "\0")}
    assert problems["none"] == "No such file or directory"
    assert problems["deep"] == problems["pipe"] == "Not a file"
    assert "null" in problems["\0"]
    assert (await files.step(ReadFile("long.txt"))).problem == "Longer than 100 bytes"
    assert "utf-8" in ((await files.step(ReadFile("binary"))).problem or "")
    for path in ("long.txt", "binary"):
        with pytest.raises(Unspeculable, match="failed"):
            await files.peek(ReadFile(path))


async def test_a_write_is_there_for_the_next_read(folder: Path, files: Files) -> None:
    assert (await files.step(WriteFile("deep/new.txt", "línea\r\n"))).problem is None
    assert (folder / "deep" / "new.txt").read_bytes() == "línea\r\n".encode()
    assert (await files.step(ReadFile("deep/new.txt"))).text == "línea\r\n"
    assert (await files.step(WriteFile("nowhere/new.txt", ""))).problem == "No such file or directory"


def test_actions_say_what_they_do() -> None:
    assert [str(ReadFile("a")), str(WriteFile("a", "text"))] == ["read a", "write a"]
