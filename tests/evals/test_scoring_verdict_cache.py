"""Verdicts on disk: shared by processes, the first one stands, and a file that cannot be used never ends a run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from evals.scoring.verdict_cache import KeptVerdict, VerdictCache

YES, NO = KeptVerdict(correct=True, reason="says so"), KeptVerdict(correct=False, reason="does not")

OTHER_PROCESS = """
import json, sys
from pathlib import Path
from evals.scoring.verdict_cache import KeptVerdict, VerdictCache
cache = VerdictCache(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
verdict = KeptVerdict(correct=False, reason="other")
print(json.dumps([cache.keep(str(number), verdict).reason for number in range(30)]))
"""


def test_the_first_verdict_stands(tmp_path: Path) -> None:
    path = tmp_path / "made" / "verdicts.sqlite"
    assert VerdictCache(path).get("key") is None
    assert VerdictCache(path).keep("key", YES) == YES
    assert VerdictCache(path).keep("key", NO) == YES
    assert VerdictCache(path).get("key") == YES
    assert VerdictCache(path).get("another key") is None


def test_two_processes_agree_on_every_verdict(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    command = [sys.executable, "-c", OTHER_PROCESS, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        ours = [VerdictCache(path).keep(str(number), YES).reason for number in range(30)]
        theirs = json.loads(process.communicate()[0])
    assert ours == theirs


def test_a_damaged_file_is_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "verdicts.sqlite"
    path.write_bytes(b"no database " * 1000)
    cache = VerdictCache(path)
    assert cache.get("key") is None
    assert cache.keep("key", YES) == YES
    assert VerdictCache(path).get("key") == YES
    (aside,) = tmp_path.glob("verdicts.sqlite.unusable-*")
    assert aside.read_bytes().startswith(b"no database")
    assert caplog.text.count("was renamed to") == 1


def test_a_file_that_was_cut_off_is_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "verdicts.sqlite"
    cache = VerdictCache(path)
    for number in range(200):
        cache.keep(str(number), KeptVerdict(correct=True, reason="x" * 500))
    path.write_bytes(path.read_bytes()[:8192])
    found = [cache.get(str(number)) for number in range(200)]
    assert cache.keep("new", NO) == NO
    assert cache.get("new") == NO
    assert None in found
    assert "was renamed to" in caplog.text


def test_where_nothing_can_be_kept_a_verdict_still_holds(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = VerdictCache(tmp_path / "file" / "verdicts.sqlite")
    assert cache.get("key") is None
    assert cache.keep("key", YES) == YES
    assert caplog.text.count("No verdicts are kept in") == 1, "told once"
