"""The files around the code: scripts, the change log, and that nothing of one machine is in any of them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.conventions.sources import ROOT, kept_files

SCRIPTS = ("scripts/demo", "scripts/setup", "scripts/test")
MAX_WORDS = 25
HOME_FOLDER = re.compile(r"(?<![\w.:/-])/(?:root|home/\w+|Users/\w+)/\w")


@pytest.mark.parametrize("script", [*SCRIPTS, ".ci/run"])
def test_a_script_can_be_run(script: str) -> None:
    assert os.access(ROOT / script, os.X_OK)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_is_plain_shell(script: str) -> None:
    assert (ROOT / script).read_text(encoding="utf-8").startswith("#!/bin/sh\n")
    outcome = subprocess.run(["sh", "-n", ROOT / script], capture_output=True, text=True, check=False)
    assert (outcome.returncode, outcome.stderr) == (0, "")


def test_no_file_names_a_place_on_one_machine() -> None:
    found = [name for name in kept_files() if _names_a_place(ROOT / name)]
    assert found == []


def test_the_change_log_is_short_and_has_an_unreleased_section() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "\n## [Unreleased]\n" in text
    entries = re.findall(r"^- (.+(?:\n {2}.+)*)", text, flags=re.MULTILINE)
    assert entries
    assert [entry for entry in entries if len(entry.split()) > MAX_WORDS] == []


def test_every_dependency_is_accounted_for() -> None:
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    named = set(re.findall(r'^    "([\w-]+)[><=]', project, flags=re.MULTILINE))
    assert named
    assert {name for name in named if f"| `{name}` |" not in contributing} == set()


def _names_a_place(path: Path) -> bool:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return False
    return str(ROOT) in text or HOME_FOLDER.search(text) is not None
