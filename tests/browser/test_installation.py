"""Installing a browser: by Playwright's real downloader from a server on loopback, and by package managers that are
scripts in a folder of their own. Nothing is installed on the machine that runs this."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from browser.engine import installation
from browser.engine.chromium import find_chromium
from browser.engine.installation import install_browser
from browser.errors import BrowserInstallFailed
from tests.browser.bare_machine import COPY, FAILS, RUNS, SHELL, BareMachine, machine

__all__ = ["machine"]


class DownloadServer:
    """Answers every request for an archive with one that holds the program as the only file.

    Attributes:
        program: What the downloaded browser is.
        paths: What was asked for.
    """

    def __init__(self) -> None:
        self.program = RUNS
        self.paths: list[str] = []

    async def answer(self, request: web.Request) -> web.Response:
        self.paths.append(request.path)
        folder = Path(request.path).stem  # chrome-headless-shell-linux64.zip holds a folder of that name
        name = f"{folder}/chrome-headless-shell" if "headless" in folder else folder
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w") as archive:
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o755 << 16
            archive.writestr(entry, self.program.read_bytes())
        return web.Response(body=content.getvalue(), content_type="application/zip")


@pytest.fixture
async def downloads(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[DownloadServer]:
    server = DownloadServer()
    application = web.Application()
    application.router.add_get("/{path:.*}", server.answer)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    monkeypatch.setenv("PLAYWRIGHT_DOWNLOAD_HOST", f"http://127.0.0.1:{port}")
    yield server
    await runner.cleanup()


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAYWRIGHT_DOWNLOAD_HOST", "http://127.0.0.1:9")  # nothing listens on the discard port


def add_manager(machine: BareMachine, name: str, *, offers: str, program: Path = RUNS, to: Path | None = None) -> Path:
    """Add a package manager that logs its arguments and knows one package, which is a copy of the program."""
    log = machine.programs.parent / "manager.log"
    log.touch()
    target = to or machine.programs / "chromium"
    machine.add_script(
        name,
        f'echo "$@" >>"{log}"',
        f'case "$*" in *"{offers}") "{COPY}" "{program}" "{target}";; *install*) echo "no package"; exit 100;; esac',
    )
    return log


async def test_one_that_is_there_is_left_alone(machine: BareMachine, downloads: DownloadServer) -> None:
    here = machine.add_binary("chromium")
    said: list[str] = []
    assert (await install_browser(said.append)).executable == here
    assert len(said) == 1
    assert str(here) in said[0]
    assert downloads.paths == []


async def test_playwrights_download_is_tried_first(machine: BareMachine, downloads: DownloadServer) -> None:
    log = add_manager(machine, "apt-get", offers="chromium")
    said: list[str] = []
    installed = await install_browser(said.append, root=True)
    assert installed == find_chromium()
    assert installed.kind == "playwright"
    assert installed.headless_shell
    assert log.read_text() == ""
    assert "downloading" in said[0]
    assert any("%" in line for line in said)


@pytest.mark.usefixtures("offline")
async def test_offline_root_gets_the_distributions_package(machine: BareMachine) -> None:
    log = add_manager(machine, "apt-get", offers=" chromium")
    installed = await install_browser(lambda _line: None, root=True)
    assert installed.kind == "chromium"
    assert log.read_text().splitlines() == [
        "update",
        "install --yes --no-install-recommends chromium-headless-shell",
        "install --yes --no-install-recommends chromium",
    ]


@pytest.mark.usefixtures("offline")
async def test_other_distributions_have_other_managers(machine: BareMachine) -> None:
    log = add_manager(machine, "dnf", offers="chromium-headless")
    assert (await install_browser(lambda _line: None, root=True)).kind == "chromium"
    assert log.read_text() == "install --assumeyes chromium-headless\n"


@pytest.mark.usefixtures("offline")
async def test_without_rights_nothing_is_installed_and_the_hint_says_what_to_run(machine: BareMachine) -> None:
    log = add_manager(machine, "apt-get", offers="chromium")
    with pytest.raises(BrowserInstallFailed, match="Playwright") as caught:
        await install_browser(lambda _line: None, root=False)
    assert caught.value.hint == "run: sudo apt-get install --yes --no-install-recommends chromium"
    assert log.read_text() == ""


@pytest.mark.usefixtures("machine", "offline")
async def test_without_a_package_manager_the_hint_says_what_is_needed() -> None:
    with pytest.raises(BrowserInstallFailed) as caught:
        await install_browser(lambda _line: None, root=True)
    assert "on PATH" in caught.value.hint


async def test_missing_libraries_are_installed_by_root(machine: BareMachine, downloads: DownloadServer) -> None:
    downloads.program = FAILS
    (machine.programs / "sh").symlink_to(SHELL)
    with pytest.raises(BrowserInstallFailed):
        await install_browser(lambda _line: None, root=False)
    broken = find_chromium().executable
    log = add_manager(machine, "apt-get", offers="", to=broken)
    assert (await install_browser(lambda _line: None, root=True)).executable == broken
    assert "chromium-headless-shell" not in log.read_text()


async def test_missing_libraries_are_told_to_others(machine: BareMachine, downloads: DownloadServer) -> None:
    downloads.program = FAILS
    with pytest.raises(BrowserInstallFailed, match="does not run") as caught:
        await install_browser(lambda _line: None, root=False)
    assert caught.value.hint.endswith("-m playwright install-deps chromium")


def lacks_libatomic(machine: BareMachine, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a driver that complains as the system's loader does, until the library is there; return where that is."""
    library = machine.programs / "libatomic.so.1"
    node = machine.add_script(
        "driver",
        f'[ -e "{library}" ] && exit 0',
        'echo "$0: error while loading shared libraries: libatomic.so.1: cannot open shared object file" >&2',
        "exit 127",
        folder=machine.programs.parent,
    )
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(node))
    return library


async def test_the_drivers_missing_library_is_installed_by_root(
    machine: BareMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.add_binary("chromium")
    log = add_manager(machine, "apt-get", offers="libatomic1", to=lacks_libatomic(machine, monkeypatch))
    await install_browser(lambda _line: None, root=True)
    assert log.read_text().splitlines() == ["update", "install --yes --no-install-recommends libatomic1"]


async def test_the_drivers_missing_library_is_told_to_others(
    machine: BareMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.add_binary("chromium")
    lacks_libatomic(machine, monkeypatch)
    with pytest.raises(BrowserInstallFailed, match=r"libatomic\.so\.1 is missing") as caught:
        await install_browser(lambda _line: None, root=False)
    assert "apt-get install libatomic1" in caught.value.hint


def test_the_scripts_entry_point_writes_to_stderr_only(
    machine: BareMachine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.add_binary("chromium")
    assert installation.main() == 0
    written = capsys.readouterr()
    assert written.out == ""
    assert str(machine.programs) in written.err


@pytest.mark.usefixtures("machine", "offline")
def test_the_scripts_entry_point_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert installation.main() == 3
    assert "hint: install Chromium" in capsys.readouterr().err
