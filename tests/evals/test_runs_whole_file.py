"""Files that are written whole or not at all."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from evals.runs.whole_file import write_whole


def test_what_was_there_stands_until_all_of_the_new_is_written(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    write_whole(path, "before \ud83d")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_whole(path, "after that, a text that is longer")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_text(encoding="utf-8") == "before \\ud83d"
    assert [each.name for each in tmp_path.iterdir()] == ["report.json"]
