"""What code must not do, beyond what the linter can say."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tests.conventions.sources import modules_of_packages, modules_of_tests, tree

# A speculation that fails (or that someone joined), an eval item and a command are reported there; anywhere else an
# error that nobody expected must be seen.
BORDERS = (
    "agent/cli",
    "agent/adapters/blocking_calls.py",  # what is run ahead in a thread
    "evals/",
    "speccache/speculator.py",
    "speccache/speculative_environment.py",
)
BANNED_CALLS = {"asyncio.gather", "asyncio.ensure_future", "time.sleep"}


def test_nothing_blocks_or_runs_without_an_owner() -> None:
    modules = (*modules_of_packages(), *modules_of_tests())
    assert [place for module in modules for name, _, place in _calls(module) if name in BANNED_CALLS] == []


def test_tests_wait_for_events_not_for_time() -> None:
    modules = [module for module in modules_of_tests() if "/test_" in module]
    waits = [
        place
        for module in modules
        for name, call, place in _calls(module)
        if name == "asyncio.sleep" and not _yields_only(call)
    ]
    assert waits == []


def test_unexpected_errors_are_caught_at_the_borders_only() -> None:
    caught = [
        f"{module}:{handler.lineno}"
        for module in modules_of_packages()
        if not module.startswith(BORDERS)
        for handler in ast.walk(tree(module))
        if isinstance(handler, ast.ExceptHandler) and _catches_everything(handler) and not _raises_again(handler)
    ]
    assert caught == []


class _Call(NamedTuple):
    name: str
    node: ast.Call
    place: str


def _calls(module: str) -> Iterator[_Call]:
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Call):
            yield _Call(ast.unparse(node.func), node, f"{module}:{node.lineno}")


def _yields_only(call: ast.Call) -> bool:
    return len(call.args) == 1 and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0


def _catches_everything(handler: ast.ExceptHandler) -> bool:
    names = ast.unparse(handler.type) if handler.type else "BaseException"
    return bool({"Exception", "BaseException"}.intersection(names.strip("()").split(", ")))


def _raises_again(handler: ast.ExceptHandler) -> bool:
    return isinstance(handler.body[-1], ast.Raise)
