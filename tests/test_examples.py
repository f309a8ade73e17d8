"""Every example runs as it stands, is short, and prints what it gained."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
ASK = FOLDER / "ask.py"
ADAPTERS = {
    "browsergym_style": "True Books are lent",
    "langchain_tools": "I have read",
    "openai_tools": "7-1 is in Lund",
    "streamed_tools": "7-1 is in Lund",
}
EXAMPLES = sorted(path for path in set(FOLDER.glob("*.py")) - {ASK} if path.stem not in ADAPTERS)
MAX_LINES = 40
MAX_ADAPTER_LINES = 60
GAIN = re.compile(r"(?P<hits>\d+) hits, (?P<misses>\d+) misses; (?P<saved>\d+\.\d\d) s saved")


def test_there_is_an_example_of_each_kind() -> None:
    assert [path.stem for path in EXAMPLES] == ["files", "json_api", "sql"]


def run(path: Path, folder: Path, *, max_lines: int = MAX_LINES) -> list[str]:
    """Run an example; gives the lines it prints."""
    command = [sys.executable, "-W", "error", str(path)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    outcome = subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True, timeout=60, check=False)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert len(path.read_text(encoding="utf-8").splitlines()) < max_lines
    return outcome.stdout.splitlines()


def test_the_agent_answers_from_python(tmp_path: Path) -> None:
    first, second, *turns, answer = run(ASK, tmp_path)
    assert (first, second) == ("answered in 8 turns, supported: True",) * 2
    assert [line.partition(":")[0] for line in turns] == [f"turn {number}" for number in range(1, 9)]
    assert "Edwina Pallister" in answer


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_its_hits_and_the_time_saved(path: Path, tmp_path: Path) -> None:
    *observations, last = run(path, tmp_path)
    gain = GAIN.fullmatch(last)
    assert gain, last
    assert len(observations) == 4
    # On a busy machine a guess may still be running when it is asked for: then it is joined, and no hit.
    assert int(gain["misses"]) == 1
    assert 0 <= int(gain["hits"]) <= 3
    assert float(gain["saved"]) > 0


@pytest.mark.parametrize("name", sorted(ADAPTERS))
def test_an_adapter_does_its_work_and_prints_its_gain(name: str, tmp_path: Path) -> None:
    *_, answer, last = run(FOLDER / f"{name}.py", tmp_path, max_lines=MAX_ADAPTER_LINES)
    assert answer.startswith(ADAPTERS[name])
    gain = GAIN.fullmatch(last)
    assert gain, last
    # How many of them hit depends on how busy the machine is.
    assert name == "browsergym_style" or float(gain["saved"]) > 0
