"""`pytest evals --suite NAME …`: the flags of `speccache eval`, one test for each question and mode.

Invariant: a wrong answer is data and passes; a test fails where its question could not be asked. All questions share
one pool of browsers, and run side by side as `--questions-at-once` says.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
import pytest_asyncio
import typer

from agent.errors import AgentError
from evals.command import read
from evals.runs.evaluation import Evaluation
from evals.runs.runner import Runner

_PYTESTS_OWN = frozenset({"--json", "--verbose", "--quiet", "--help", "--log-format", "--log-level"})
_EVALUATION = pytest.StashKey[Evaluation]()


def _command() -> Any:
    app = typer.Typer(add_completion=False)
    app.command()(read)
    return typer.main.get_command(app)


def _options() -> list[Any]:
    parameters = [parameter for parameter in _command().params if parameter.opts[0].startswith("--")]
    return [option for option in parameters if option.opts[0] not in _PYTESTS_OWN]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer the command's flags; the suite itself is `--suite`."""
    group = parser.getgroup("suites", "suites of questions (`speccache eval --help` says more)")
    group.addoption("--suite", help="a suite's name, or a file or folder of questions")
    for option in _options():
        kind: dict[str, Any] = {"action": "store_true"} if option.is_flag else {}
        if option.multiple:
            kind = {"action": "append"}
        help_text = (option.help or "").replace("\\[", "[").replace("%", "%%")
        try:
            group.addoption(option.opts[0], dest=f"eval_{option.name}", help=help_text, **kind)
        except ValueError:
            continue  # another plugin has a flag of this name; the setting's environment variable is left


def pytest_configure(config: pytest.Config) -> None:
    """Check what was asked for, before anything is collected."""
    suite = config.getoption("--suite")
    if suite is None:
        return
    if getattr(config.option, "numprocesses", None):
        raise pytest.UsageError("all questions share one pool in one process: use --questions-at-once, not -n")
    try:
        evaluation = _command().main([suite, *_arguments(config), "--quiet"], standalone_mode=False)
        config.stash[_EVALUATION] = evaluation
        _ = evaluation.plan
    except typer.BadParameter as error:
        raise pytest.UsageError(error.format_message()) from error
    except AgentError as error:
        raise pytest.UsageError(f"{error}\nhint: {error.hint}") from error


def _arguments(config: pytest.Config) -> list[str]:
    """Write the flags that pytest was given as the command takes them."""
    arguments = []
    for option in _options():
        given = getattr(config.option, f"eval_{option.name}", None)
        if given is True:
            arguments.append(option.opts[0])
        elif given:
            values = given if isinstance(given, list) else [given]
            arguments += [part for value in values for part in (option.opts[0], value)]
    return arguments


def _evaluation(config: pytest.Config) -> Evaluation:
    evaluation = config.stash.get(_EVALUATION, None)
    if evaluation is None:
        raise pytest.UsageError("name the suite to run: pytest evals --suite NAME")
    return evaluation


def pytest_collection(session: pytest.Session) -> None:
    """Say that a suite is missing before anything is collected, where it is told best."""
    _evaluation(session.config)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Ask nothing that `-k` or a node's name has left out."""
    questions = (item for item in session.items if isinstance(item, pytest.Function) and "asked" in item.fixturenames)
    asked = [cast("tuple[str, str]", question.callspec.params["asked"]) for question in questions]
    _evaluation(session.config).narrow(asked)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each question and mode."""
    if "asked" not in metafunc.fixturenames:
        return
    plan = _evaluation(metafunc.config).plan
    pairs = [(item.id, str(mode)) for item in plan.items for mode in plan.order(item)]
    metafunc.parametrize("asked", pairs, ids=[f"{item}-{mode}" for item, mode in pairs])


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def runner(request: pytest.FixtureRequest) -> AsyncIterator[Runner]:
    """Run the suite in the background of all its tests."""
    async with request.config.stash[_EVALUATION].running() as running:
        yield running


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the report after the tests."""
    evaluation = config.stash.get(_EVALUATION, None)
    if evaluation is not None and evaluation.records:
        terminalreporter.section(f"suite {evaluation.plan.suite.name}")
        evaluation.publish()
        terminalreporter.write_line(f"results: {evaluation.folder}")
