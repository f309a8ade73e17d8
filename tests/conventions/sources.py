"""The project's own files, read as text and as syntax trees."""

from __future__ import annotations

import ast
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("agent", "browser", "evals", "speccache")


def modules_of_packages() -> list[str]:
    """All modules of the packages, as paths relative to the root."""
    return [path for folder in PACKAGES for path in _modules_below(folder)]


def modules_of_tests() -> list[str]:
    """All modules of the tests, as paths relative to the root."""
    return _modules_below("tests")


@cache
def tree(module: str) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse((ROOT / module).read_text(encoding="utf-8"))


def kept_files() -> list[str]:
    """Every file that version control keeps, or would keep if it were added; empty outside a checkout."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return [line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]


def _modules_below(folder: str) -> list[str]:
    return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*.py"))
