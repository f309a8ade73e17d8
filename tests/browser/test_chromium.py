"""Finding a browser, and the binary behind the scripts that distributions put before it."""

from __future__ import annotations

import json
from pathlib import Path

import playwright
import pytest

from browser.engine.chromium import Chromium, chromium_version, find_chromium
from browser.engine.probe import probe
from browser.errors import BrowserNotFound, LaunchFailed
from tests.browser.bare_machine import FAILS, BareMachine, machine

__all__ = ["machine"]


def add_playwright_download(machine: BareMachine, name: str, below: str, *, complete: bool = True) -> Path:
    listed = Path(playwright.__file__).parent / "driver" / "package" / "browsers.json"
    revisions = {entry["name"]: entry["revision"] for entry in json.loads(listed.read_text())["browsers"]}
    folder = machine.playwright / f"{name.replace('-', '_')}-{revisions[name]}"
    executable = machine.add_binary(below, folder=folder)
    if complete:
        (folder / "INSTALLATION_COMPLETE").touch()
    return executable


def test_a_bare_machine_has_none(machine: BareMachine) -> None:
    with pytest.raises(BrowserNotFound) as caught:
        find_chromium()
    assert "speccache install-browser" in caught.value.hint


def test_the_configured_one_comes_first(machine: BareMachine, tmp_path: Path) -> None:
    machine.add_binary("chromium-headless-shell")
    mine = machine.add_binary("my-browser", folder=tmp_path)
    assert find_chromium(mine) == Chromium(executable=mine, kind="configured")


@pytest.mark.parametrize("name", ["missing", "not-executable", "folder"])
def test_a_configured_path_that_cannot_be_run_is_an_error(machine: BareMachine, tmp_path: Path, name: str) -> None:
    (tmp_path / "not-executable").touch(mode=0o644)
    (tmp_path / "folder").mkdir()
    with pytest.raises(BrowserNotFound, match=name):
        find_chromium(tmp_path / name)


def test_playwrights_headless_shell_comes_before_its_whole_browser(machine: BareMachine) -> None:
    machine.add_binary("chromium-headless-shell")
    whole = add_playwright_download(machine, "chromium", "chrome-linux64/chrome")
    assert find_chromium() == Chromium(executable=whole, kind="playwright")
    shell = add_playwright_download(machine, "chromium-headless-shell", "chrome-linux/headless_shell")
    assert find_chromium() == Chromium(executable=shell, kind="playwright")
    assert find_chromium().headless_shell


def test_an_interrupted_download_does_not_count(machine: BareMachine) -> None:
    add_playwright_download(machine, "chromium", "chrome-linux64/chrome", complete=False)
    with pytest.raises(BrowserNotFound):
        find_chromium()


def test_the_systems_headless_shell_comes_before_chromium_and_chrome(machine: BareMachine) -> None:
    expected = []
    for name in ("google-chrome", "chromium", "chromium-headless-shell"):
        expected.append(machine.add_binary(name))
        assert find_chromium().executable == expected[-1]
    assert find_chromium().kind == "headless-shell"


@pytest.mark.parametrize(
    ("name", "binary", "line"),
    [
        ("chromium-headless-shell", "chromium-headless-shell", '{folder}/chromium-headless-shell "$@"'),
        ("chromium", "chromium", 'LIBDIR={folder}; exec $LIBDIR/chromium "$@"'),
        ("chromium-browser", "chromium-browser", 'exec "{folder}/chromium-browser" "$@"'),
    ],
)
def test_a_start_script_is_resolved_to_the_binary_behind_it(
    machine: BareMachine, tmp_path: Path, name: str, binary: str, line: str
) -> None:
    behind = machine.add_binary(binary, folder=tmp_path / "lib" / "browser")
    script = machine.add_script(name, line.format(folder=behind.parent))
    assert find_chromium().executable == behind
    assert find_chromium(script) == Chromium(executable=behind, kind="configured")


def test_a_link_to_a_script_beside_its_binary_is_resolved(machine: BareMachine, tmp_path: Path) -> None:
    script = machine.add_script("google-chrome", 'exec "$HERE/chrome" "$@"', folder=tmp_path / "opt")
    behind = machine.add_binary("chrome", folder=tmp_path / "opt")
    (machine.programs / "google-chrome-stable").symlink_to(script)
    (machine.programs / "google-chrome").symlink_to(script)
    assert find_chromium() == Chromium(executable=behind, kind="chrome")


def test_a_script_without_a_binary_is_no_browser_unless_configured(machine: BareMachine) -> None:
    script = machine.add_script("chromium-browser", 'echo "requires the chromium snap"; exit 1')
    with pytest.raises(BrowserNotFound):
        find_chromium()
    assert find_chromium(script).executable == script


def test_a_snap_is_no_browser(machine: BareMachine, tmp_path: Path) -> None:
    snap = machine.add_binary("snap", folder=tmp_path / "snapd")
    (machine.programs / "chromium").symlink_to(snap)
    with pytest.raises(BrowserNotFound):
        find_chromium()


async def test_a_browser_that_does_not_run_says_why(machine: BareMachine) -> None:
    broken = Chromium(executable=machine.add_binary("chromium", program=FAILS), kind="chromium")
    with pytest.raises(LaunchFailed, match="chromium does not run"):
        await chromium_version(broken)
    absent = Chromium(executable=machine.programs / "absent", kind="chromium")
    with pytest.raises(LaunchFailed, match="No such file"):
        await chromium_version(absent)


async def test_the_real_one_starts_and_loads_a_page() -> None:
    found = find_chromium()
    shown = await probe(found)
    assert shown.version in await chromium_version(found)
    assert shown.launch_seconds > 0
    assert shown.page_seconds > 0


async def test_a_program_that_is_no_browser_does_not_start(machine: BareMachine) -> None:
    with pytest.raises(LaunchFailed, match="does not start"):
        await probe(Chromium(executable=machine.add_binary("chromium"), kind="chromium"))
