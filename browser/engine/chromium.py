"""Where Chromium is on this machine.

Invariant: what is found is the browser's own binary, never a script around it, wherever the binary can be told. A
pool ends a browser by its process id, and killing a script that did not `exec` leaves the browser alive behind it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from browser.engine.command import run
from browser.errors import BrowserNotFound, LaunchFailed

Kind = Literal["configured", "playwright", "headless-shell", "chromium", "chrome"]

# Headless shells first: they start and load about twice as fast as the whole browser without a window.
SYSTEM_NAMES: dict[Kind, tuple[str, ...]] = {
    "headless-shell": ("chromium-headless-shell", "chrome-headless-shell", "headless_shell"),
    "chromium": ("chromium", "chromium-browser", "Chromium"),
    "chrome": ("chrome", "google-chrome-stable", "google-chrome", "Google Chrome"),
}

# Where distributions keep the binaries that the scripts on PATH start, and where other systems install browsers.
SYSTEM_FOLDERS = (
    "/usr/lib/chromium",
    "/usr/lib64/chromium",
    "/usr/lib/chromium-browser",
    "/usr/lib64/chromium-browser",
    "/opt/google/chrome",
    "/Applications/Chromium.app/Contents/MacOS",
    "/Applications/Google Chrome.app/Contents/MacOS",
    r"C:\Program Files\Google\Chrome\Application",
)

# Below Playwright's folder for one browser; the folder in between is named after the platform.
PLAYWRIGHT_EXECUTABLES = {
    "chromium-headless-shell": ("*/chrome-headless-shell", "*/chrome-headless-shell.exe", "*/headless_shell"),
    "chromium": ("*/chrome", "*/chrome.exe", "*/*.app/Contents/MacOS/*"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chromium:
    """A Chromium on this machine.

    Attributes:
        executable: The program to start; absolute.
        kind: How it was found.
    """

    executable: Path
    kind: Kind

    @property
    def headless_shell(self) -> bool:
        """Whether it is the small build without a window, which has only the old headless mode."""
        return re.search(r"headless[-_]shell", self.executable.name) is not None


def find_chromium(configured: Path | None = None, *, headed: bool = False) -> Chromium:
    """Find a Chromium: the configured one, else Playwright's own, else the system's. Starts nothing.

    Args:
        configured: The one to use.
        headed: Whether it must be able to show a window.

    Raises:
        BrowserNotFound: There is none, or the configured path is no executable file.
    """
    found = [_configured(configured)] if configured is not None else (*_playwright_downloads(), *_system_browsers())
    for chromium in found:
        if not (headed and chromium.headless_shell):
            return chromium
    if not found:
        raise BrowserNotFound("There is no Chromium on this machine.", hint="run: speccache install-browser")
    raise BrowserNotFound(
        "There is only a headless shell, which has no window.",
        hint="install the whole browser (chromium or google-chrome), name one with --browser, or leave --headed out",
    )


async def chromium_version(chromium: Chromium, *, timeout_seconds: float = 20.0) -> str:
    """Ask the browser for its version, which also shows that it finds its libraries.

    Raises:
        LaunchFailed: It does not run.
    """
    outcome = await run((str(chromium.executable), "--version"), timeout_seconds=timeout_seconds)
    if outcome.code == 0 and outcome.lines:
        return outcome.lines[-1].strip()
    raise LaunchFailed(f"{chromium.executable} does not run: {outcome.reason}")


def _configured(path: Path) -> Chromium:
    path = path.expanduser().absolute()
    if not (path.is_file() and os.access(path, os.X_OK)):
        raise BrowserNotFound(
            f"The configured browser, {path}, is no executable file.",
            hint="give the path of a Chromium, or leave the setting out to have one found",
        )
    return Chromium(executable=_binary_behind(path) or path, kind="configured")


def _playwright_downloads() -> Iterator[Chromium]:
    """Yield what Playwright downloaded for the version of it that is installed."""
    spec = importlib.util.find_spec("playwright")
    if spec is None or spec.origin is None:
        return
    package = Path(spec.origin).parent / "driver" / "package"
    listed = json.loads((package / "browsers.json").read_text(encoding="utf-8"))["browsers"]
    revisions = {browser["name"]: browser["revision"] for browser in listed}
    for name, patterns in PLAYWRIGHT_EXECUTABLES.items():
        folder = _playwright_folder(package) / f"{name.replace('-', '_')}-{revisions.get(name)}"
        if (folder / "INSTALLATION_COMPLETE").exists():
            for pattern in patterns:
                for executable in folder.glob(pattern):
                    yield Chromium(executable=executable, kind="playwright")


def _playwright_folder(package: Path) -> Path:
    """Follow Playwright's own rule for the folder it downloads to."""
    configured = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    if configured == "0":
        return package / ".local-browsers"
    if configured:
        return Path(configured).absolute()
    if sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "ms-playwright"


def _system_browsers() -> Iterator[Chromium]:
    folders = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    for kind, names in SYSTEM_NAMES.items():
        for name in names:
            for folder in (*folders, *SYSTEM_FOLDERS):
                path = shutil.which(name, path=folder)
                binary = _binary_behind(Path(path)) if path else None
                if binary is not None:
                    yield Chromium(executable=binary, kind=kind)


def _binary_behind(path: Path) -> Path | None:
    """Resolve links and the distributions' start scripts to the browser's binary; None where it cannot be told."""
    resolved = path.resolve()
    if resolved.name == "snap":  # A snap is confined to its own temp folder, where Playwright cannot reach its profile.
        return None
    if not _is_script(resolved):
        return resolved
    wanted = next((names for names in SYSTEM_NAMES.values() if path.name in names), ())
    for folder in (resolved.parent, *_folders_named_in(resolved), *map(Path, SYSTEM_FOLDERS)):
        for name in wanted:
            candidate = folder / name
            if candidate.is_file() and os.access(candidate, os.X_OK) and not _is_script(candidate):
                return candidate.resolve()
    return None


def _is_script(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"#!"


def _folders_named_in(script: Path) -> Iterator[Path]:
    for match in re.findall(r"/[\w.+/-]+", script.read_text(encoding="utf-8", errors="replace")):
        named = Path(match)
        yield named if named.is_dir() else named.parent
