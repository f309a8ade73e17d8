"""`speccache tune` as a person meets it: what it measures, prints, writes, and how it ends."""

from __future__ import annotations

import json
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from agent.settings import load_settings
from agent.wiring import open_pool
from tests.agent.command import running, speccache
from tests.website import Website

LINES = ("north", "south", "east", "west")
PAGES = {
    "/": "<h1>Depot</h1>" + "".join(f"<p><a href='/{line}'>Trams of the {line} line</a></p>" for line in LINES),
    **{
        f"/{line}": f"<h1>The {line} line</h1><p>The {line} line was opened in {1900 + number}.</p>"
        for number, line in enumerate(LINES)
    },
}
QUICK = ("--quick", "--sizes", "2", "--guesses", "1", "--think", "0.05")


@pytest.fixture
async def site() -> AsyncIterator[Website]:
    async with Website(PAGES) as website:
        yield website


async def test_it_measures_recommends_draws_and_sets(
    site: Website, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "speccache.toml").write_text("# mine\nmax_turns = 3  # enough\n")
    words = ["--url", site.url + "/", *QUICK, "--memory-limit", "2000", "--write", "--plot", "plot.svg"]
    result = await speccache("tune", *words, cwd=tmp_path)
    assert result.code == 0, result.err
    assert "recommended: pool_size = 2, max_guesses = 1" in result.out
    assert "reason: " in result.out
    assert "memory limit: 2,000 MiB (as given)" in result.out
    assert "measuring" not in result.err, "no progress where standard error is no terminal"

    [file] = (tmp_path / "runs").iterdir()
    shown = json.loads(file.read_text())
    assert (shown["partial"], shown["measured"], shown["planned"]) == (False, 3, 3)
    [size] = shown["sizes"]
    assert size["pages_per_second"]["median"] > 0
    assert 0 < size["p50_s"] <= size["p95_s"]
    assert size["pss_mib"] > size["pss_mib_a_page"] > 0
    assert {question["max_guesses"] for question in shown["questions"]} == {0, 1}
    assert "<svg" in (tmp_path / "plot.svg").read_text()

    text = (tmp_path / "speccache.toml").read_text()
    assert text == "# mine\nmax_turns = 3  # enough\npool_size = 2\nmax_guesses = 1\n"
    monkeypatch.chdir(tmp_path)
    settings = load_settings()  # as `speccache ask` does in this folder
    assert (settings.pool_size, settings.max_guesses, settings.max_turns) == (2, 1, 3)
    async with open_pool(settings) as pool:
        assert pool.options.speculation_slots == 2


async def test_an_interrupted_sweep_shows_what_it_has_and_sets_nothing(site: Website, tmp_path: Path) -> None:
    words = ["--url", site.url + "/", *QUICK, "--rounds", "9", "--write", "--json", "--output", "found.json"]
    async with running("tune", *words, cwd=tmp_path) as command:
        # Asked for once to see its links, then once by each measurement: the second is under way.
        await site.arrived("/", count=3)
        family = psutil.Process(command.process.pid).children(recursive=True)
        command.process.send_signal(signal.SIGINT)
        result = await command.result()
    assert result.code == 130
    shown = json.loads(result.out)
    assert shown == json.loads((tmp_path / "found.json").read_text())
    assert (shown["partial"], shown["measured"], shown["planned"]) == (True, 1, 27)
    assert "speccache.toml is as it was" in result.err
    assert not (tmp_path / "speccache.toml").exists()
    assert psutil.wait_procs(family, timeout=10)[1] == []


async def test_a_page_that_is_not_there_is_told_of(tmp_path: Path) -> None:
    """It is found out before anything is measured."""
    result = await speccache("tune", "--url", "http://127.0.0.1:1/", cwd=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert "error: http://127.0.0.1:1/ cannot be read" in result.err
    assert "hint:" in result.err
