"""A machine without a browser, made of real files: its own PATH, and Playwright's folder elsewhere."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from browser.engine import chromium

# Programs that run anywhere: one that, like a browser asked for its version, writes a line, and one that fails.
RUNS = Path(shutil.which("echo") or "/bin/echo")
FAILS = Path(shutil.which("false") or "/bin/false")
SHELL = Path(shutil.which("sh") or "/bin/sh")
COPY = Path(shutil.which("cp") or "/bin/cp")


@dataclass(frozen=True, slots=True, kw_only=True)
class BareMachine:
    """Where its programs and Playwright's browsers are.

    Attributes:
        programs: The only folder on PATH.
        playwright: Where Playwright downloads to.
    """

    programs: Path
    playwright: Path

    def add_binary(self, name: str, *, program: Path = RUNS, folder: Path | None = None) -> Path:
        """Put a program under another name."""
        path = (folder or self.programs) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(program, path)
        return path

    def add_script(self, name: str, *lines: str, folder: Path | None = None) -> Path:
        """Write a shell script."""
        path = (folder or self.programs) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join((f"#!{SHELL}", *lines, "")), encoding="utf-8")
        path.chmod(0o755)
        return path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BareMachine:
    """Make this process see such a machine."""
    bare = BareMachine(programs=tmp_path / "bin", playwright=tmp_path / "playwright")
    bare.programs.mkdir()
    monkeypatch.setenv("PATH", str(bare.programs))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(bare.playwright))
    monkeypatch.setattr(chromium, "SYSTEM_FOLDERS", ())
    return bare
