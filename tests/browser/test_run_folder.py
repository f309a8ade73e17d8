"""The folder for a run's temporary files, and how those of dead runs go."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from browser.engine.run_folder import RunFolder

HOLD = """
import sys
from pathlib import Path
from browser.engine.run_folder import RunFolder

folder = RunFolder(parent=Path(sys.argv[1]))
folder.make()
(folder.path / "file").write_text("left")
print("made", flush=True)
sys.stdin.read()
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_goes_with_its_run(tmp_path: Path) -> None:
    folder = RunFolder(parent=tmp_path)
    folder.make()
    assert folder.path.stat().st_mode & 0o077 == 0
    (folder.path / "inner").mkdir()
    folder.remove()
    folder.remove()
    assert names(tmp_path) == []


def test_what_a_dead_run_left_goes_at_the_next_start_and_what_lives_stays(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "made\n"
        left = names(tmp_path)
        RunFolder(parent=tmp_path).make()
        assert set(left) < set(names(tmp_path)), "it lives"
        run.send_signal(signal.SIGKILL)
    mine = RunFolder(parent=tmp_path)
    mine.make()
    assert set(left).isdisjoint(names(tmp_path))
    assert mine.path.name in names(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="symbolic links")
def test_nothing_else_is_ever_removed(tmp_path: Path) -> None:
    parent, elsewhere = tmp_path / "tmp", tmp_path / "elsewhere"
    for folder in (parent / "speccache-run-own", parent / "speccache-other", elsewhere):
        folder.mkdir(parents=True)
        (folder / "file").touch()
    (parent / "speccache-run-link.lock").symlink_to(elsewhere / "file")
    (parent / "speccache-run-0.lock").touch()
    (parent / "speccache-run-0").symlink_to(elsewhere)
    RunFolder(parent=parent).make()
    assert names(elsewhere) == ["file"]
    assert {"speccache-run-own", "speccache-other"} < set(names(parent)), "without a lock it is not known to be dead"
