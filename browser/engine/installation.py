"""Getting a Chromium onto a machine that has none.

Invariant: a browser counts as installed only once it has run, and what drives it too. Playwright's download succeeds on
machines that lack the libraries it needs, so every step is followed by starting what it left.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from browser.engine.chromium import Chromium, chromium_version, find_chromium
from browser.engine.command import Outcome, run
from browser.engine.driver_library import PACKAGES, how_to_get, missing_library
from browser.errors import BrowserError, BrowserInstallFailed, BrowserNotFound, LaunchFailed

STEP_TIMEOUT_SECONDS = 600.0
_PROGRESS = re.compile(r"\d ?%(\s|$)")

ENVIRONMENT = {
    "DEBIAN_FRONTEND": "noninteractive",
    # Playwright tries each of several addresses five times; its default of 30 s each keeps an offline user waiting.
    "PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT": "10000",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageManager:
    """How one family of distributions installs a browser.

    Attributes:
        name: Its command.
        refresh: Arguments that fetch the list of packages; empty where installing does so by itself.
        install: Arguments that install the package named after them, without questions.
        packages: Packages that bring a browser, the smallest first.
    """

    name: str
    refresh: tuple[str, ...] = ()
    install: tuple[str, ...]
    packages: tuple[str, ...] = ("chromium",)


PACKAGE_MANAGERS = (
    PackageManager(
        name="apt-get",
        refresh=("update",),
        install=("install", "--yes", "--no-install-recommends"),
        packages=("chromium-headless-shell", "chromium"),
    ),
    PackageManager(name="dnf", install=("install", "--assumeyes"), packages=("chromium-headless", "chromium")),
    PackageManager(name="zypper", install=("--non-interactive", "install")),
    PackageManager(name="pacman", install=("--sync", "--refresh", "--noconfirm", "--needed")),
    PackageManager(name="apk", install=("add", "--no-cache")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing to try.

    Attributes:
        label: What it does, for the person who waits.
        argv: The program that does it.
        repairs: Whether it only helps a browser that is there but does not run.
    """

    label: str
    argv: tuple[str, ...]
    repairs: bool = False


async def install_browser(report: Callable[[str], None], *, root: bool | None = None) -> Chromium:
    """Return a Chromium that runs, installing one where there is none. A second call changes nothing.

    Args:
        report: Called with each line of progress.
        root: Whether the distribution's package manager may be used; by default, whether this process is root.

    Raises:
        BrowserInstallFailed: Nothing that was tried left a browser that runs; the hint says what to run by hand.
    """
    root = _is_root() if root is None else root
    await _complete_driver(report, root=root)
    state = await _look()
    problems: list[str] = []
    for step in _steps(root=root):
        if state.working is not None:
            break
        if step.repairs and not state.found:
            continue
        outcome = await _take(step, report)
        if outcome.code != 0:
            problems.append(f"{step.label}: {outcome.reason}")
        state = await _look()
    if state.working is None:
        raise BrowserInstallFailed(_message(problems, state), hint=_hint(found=state.found))
    report(f"{state.version}: {state.working.executable}")
    return state.working


async def _complete_driver(report: Callable[[str], None], *, root: bool) -> None:
    """Install the library that Playwright's driver lacks; without it nothing else of Playwright runs."""
    library = await missing_library()
    manager = _package_manager()
    if library is not None and root and manager is not None and (package := PACKAGES.get(manager.name)):
        for step in _steps_for(manager, (package,)):
            await _take(step, report)
        library = await missing_library()
    if library is not None:
        raise BrowserInstallFailed(f"Playwright cannot run: {library} is missing", hint=how_to_get(library))


async def _take(step: Step, report: Callable[[str], None]) -> Outcome:
    report(step.label)
    outcome = await run(
        step.argv,
        timeout_seconds=STEP_TIMEOUT_SECONDS,
        environment=ENVIRONMENT,
        on_line=lambda line: report(f"  {line}") if _PROGRESS.search(line) else None,
    )
    if outcome.code != 0:
        report(f"  that failed: {outcome.reason}")
    return outcome


def main() -> int:
    """Install a browser from a script; progress goes to stderr. Return the exit code."""
    try:
        asyncio.run(install_browser(_to_stderr))
    except BrowserError as error:
        _to_stderr(f"error: {error}")
        _to_stderr(f"hint: {error.hint}")
        return 3
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """What is there now: whether a browser is found, and the browser where it also runs."""

    found: bool = False
    working: Chromium | None = None
    version: str = ""
    problem: str = ""


async def _look() -> _State:
    try:
        chromium = find_chromium()
        version = await chromium_version(chromium)
    except BrowserNotFound:
        return _State()
    except LaunchFailed as error:
        return _State(found=True, problem=str(error))
    return _State(found=True, working=chromium, version=version)


def _steps(*, root: bool) -> Iterator[Step]:
    yield Step(
        label="downloading a headless Chromium (about 110 MB) with Playwright",
        argv=(sys.executable, "-m", "playwright", "install", "chromium", "--only-shell"),
    )
    if not root:
        return
    yield Step(
        label="installing the libraries that Chromium needs",
        argv=(sys.executable, "-m", "playwright", "install-deps", "chromium"),
        repairs=True,
    )
    if manager := _package_manager():
        yield from _steps_for(manager, manager.packages)


def _steps_for(manager: PackageManager, packages: Sequence[str]) -> Iterator[Step]:
    if manager.refresh:
        yield Step(label=f"refreshing the packages of {manager.name}", argv=(manager.name, *manager.refresh))
    for package in packages:
        yield Step(
            label=f"installing the package {package} with {manager.name}",
            argv=(manager.name, *manager.install, package),
        )


def _package_manager() -> PackageManager | None:
    return next((manager for manager in PACKAGE_MANAGERS if shutil.which(manager.name)), None)


def _message(problems: list[str], state: _State) -> str:
    return "; ".join(["No Chromium could be installed", *problems, *([state.problem] if state.problem else [])])


def _hint(*, found: bool) -> str:
    """Say what a person with more rights, or more of a network, can run."""
    if found:
        return f"run: sudo {sys.executable} -m playwright install-deps chromium"
    manager = _package_manager()
    if manager is None:
        return "install Chromium or Google Chrome so that it is on PATH"
    return f"run: sudo {manager.name} {' '.join(manager.install)} {manager.packages[-1]}"


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _to_stderr(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
