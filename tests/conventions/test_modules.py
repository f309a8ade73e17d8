"""How modules are named, how long they and their functions are, and what a package's `__init__` says."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conventions.sources import PACKAGES, ROOT, modules_of_packages, modules_of_tests, tree

MODULES = modules_of_packages()
MAX_MODULE_LINES = 300
MAX_FUNCTION_LINES = 50
VAGUE_NAMES = {"base", "common", "helpers", "manager", "misc", "util", "utils"}
# The field's own words, which a package's name keeps apart from the standard library's.
ALLOWED_NAMES = {"agent/trace.py"}


def test_modules_are_short() -> None:
    lengths = {module: len((ROOT / module).read_text(encoding="utf-8").splitlines()) for module in MODULES}
    assert {module: lines for module, lines in lengths.items() if lines > MAX_MODULE_LINES} == {}


def test_scripts_are_short() -> None:
    scripts = sorted((ROOT / "browser").rglob("*.js"))
    lengths = {script.name: len(script.read_text(encoding="utf-8").splitlines()) for script in scripts}
    assert len(scripts) > 20
    assert {script: lines for script, lines in lengths.items() if lines > MAX_MODULE_LINES} == {}


def test_functions_are_short() -> None:
    lengths = {
        f"{module}: {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for module in MODULES
        for node in ast.walk(tree(module))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: lines for name, lines in lengths.items() if lines > MAX_FUNCTION_LINES} == {}


def test_modules_are_named_by_their_own_noun() -> None:
    taken = VAGUE_NAMES | sys.stdlib_module_names
    named = {module: Path(module).stem for module in MODULES if not module.endswith("/__init__.py")}
    assert {module for module, name in named.items() if name in taken} <= ALLOWED_NAMES


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_names_what_it_offers_and_runs_nothing(package: str) -> None:
    statements = tree(f"{package}/__init__.py").body
    assert ast.get_docstring(tree(f"{package}/__init__.py"))
    allowed = ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign
    assert all(isinstance(statement, allowed) for statement in statements[1:])
    imported = {
        alias.asname or alias.name
        for statement in statements
        if isinstance(statement, ast.ImportFrom) and statement.module != "__future__"
        for alias in statement.names
    }
    offered = getattr(importlib.import_module(package), "__all__", ())
    assert sorted(offered) == sorted(imported)


def test_every_folder_of_tests_is_a_package() -> None:
    folders = {Path(module).parent for module in modules_of_tests()}
    assert [folder for folder in folders if not (ROOT / folder / "__init__.py").exists()] == []


def test_imports_keep_to_the_contracts() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
