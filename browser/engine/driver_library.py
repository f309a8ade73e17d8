"""The system library that Playwright's driver may lack, and the package that brings it.

Facts: the driver is a Node that loads libatomic, which slim images and bare servers do not have; without it `playwright
install-deps` does not run either, being the same Node.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import playwright

from browser.engine.command import run

PACKAGES = {"apt-get": "libatomic1", "dnf": "libatomic", "zypper": "libatomic1", "pacman": "gcc-libs"}
"""What brings libatomic, by package manager."""

_MISSING = re.compile(r"error while loading shared libraries: ([\w.+-]+):")
_ANSWER_SECONDS = 10.0


async def missing_library() -> str | None:
    """Return the name of the library without which the driver does not start, such as `libatomic.so.1`."""
    node = os.environ.get("PLAYWRIGHT_NODEJS_PATH") or str(Path(playwright.__file__).parent / "driver" / "node")
    outcome = await run((node, "--version"), timeout_seconds=_ANSWER_SECONDS)
    if outcome.code == 0:
        return None
    return next((found[1] for line in outcome.lines if (found := _MISSING.search(line))), None)


def how_to_get(library: str) -> str:
    """Say what to run for it, as a hint."""
    if not library.startswith("libatomic."):
        return f"install the package of your system that holds {library}"
    commands = (f"sudo {manager} install {package}" for manager, package in PACKAGES.items() if manager != "pacman")
    return f"run: {next(commands)} (Debian, Ubuntu); {next(commands)} (Fedora); {next(commands)} (openSUSE)"
