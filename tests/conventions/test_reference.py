"""The reference is the code's, and the pages beside it say what the code says."""

from __future__ import annotations

import ast
import re

from agent.settings import Settings
from tests.conventions.sources import ROOT, tree
from tests.reference import pages

_DOCTOR = ("agent/doctor.py", "agent/doctor_cache.py")


def test_the_reference_is_up_to_date() -> None:
    folder = ROOT / "docs" / "reference"
    stale = [name for name, text in pages().items() if (folder / name).read_text(encoding="utf-8") != text]
    assert stale == [], "run: python -m tests.reference"
    assert {path.name for path in folder.iterdir()} == set(pages())


def test_every_setting_is_in_the_reference() -> None:
    text = pages()["settings.md"]
    assert [name for name in Settings.model_fields if f"| `{name}`" not in text] == []
    assert "`SPECCACHE_POOL_SIZE` | `--pool-size` |" in text


def test_troubleshooting_tells_of_every_check_and_what_to_do() -> None:
    text = " ".join((ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8").split())
    headings = set(re.findall(r"## ([\w ,]+?) (?=[A-Z])", text))
    explained = {name for heading in headings for name in heading.split(", ")}
    assert _checked() - explained == set()
    assert [hint for hint in _hints() if hint not in text] == []


def _checked() -> set[str]:
    """The names of the doctor's checks, but for that of a remote browser, which holds its address."""
    return {value.value for value in _arguments("name") if isinstance(value, ast.Constant) and value.value}


def _hints() -> set[str]:
    """The fixed parts of what the doctor says is to be done."""
    parts = {
        part.value.strip()
        for value in _arguments("hint")
        for part in ast.walk(value)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }
    return parts - {""}


def _arguments(name: str) -> list[ast.expr]:
    """What the doctor's checks are given by this name, directly, by position in a helper, or through a variable."""
    nodes = [node for module in _DOCTOR for node in ast.walk(tree(module))]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    checks = [call for call in calls if ast.unparse(call.func) in ("Check", "check_folder", "_endpoint_failed")]
    given = [keyword.value for call in checks for keyword in call.keywords if keyword.arg == name]
    position = {"name": ("check_folder", 0), "hint": ("_endpoint_failed", 1)}[name]
    given += [call.args[position[1]] for call in checks if ast.unparse(call.func) == position[0]]
    variables = [node for node in nodes if isinstance(node, ast.Assign)]
    given += [node.value for node in variables if ast.unparse(node.targets[0]) == name]
    return given
