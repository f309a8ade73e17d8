"""`speccache trace`: what it writes, what it prints, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from agent.commands.trace_page import trace
from agent.console import ExitCode
from tests.agent.command import speccache
from tests.agent.traces import example, write


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def test_the_page_is_written_and_opened(tmp_path: Path) -> None:
    lines = example()
    path = write(tmp_path / "run.jsonl", lines)
    path.write_bytes(path.read_bytes()[:-9])
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\necho "$1" > opened\n')
    browser.chmod(0o755)
    result = await speccache("trace", "run.jsonl", "--open", cwd=tmp_path, variables={"BROWSER": str(browser)})
    assert (result.code, result.out) == (ExitCode.ANSWERED, "run.html\n")
    assert f"note: run.jsonl: line {len(lines)} is not whole" in result.err
    assert "not finished; of LLM and web time, the web took 33%" in result.err
    page = tmp_path / "run.html"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (tmp_path / "opened").read_text().strip() == page.as_uri()


def test_figures_and_the_chrome_trace_of_several_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [write(tmp_path / name, example()) for name in ("one.jsonl", "two.jsonl")]
    exported = tmp_path / "deep" / "chrome.json"
    trace(files, chrome=exported, as_json=True)
    out, err = capsys.readouterr()
    assert err == ""
    assert [(run["source"], run["status"], run["turns"]) for run in json.loads(out)["runs"]] == [
        (str(file), "answered", 3) for file in files
    ]
    events = json.loads(exported.read_text(encoding="utf-8"))["traceEvents"]
    assert {event["pid"] for event in events} == {1, 2}
    assert names(tmp_path) == {"deep", "one.jsonl", "two.jsonl"}, "no page was asked for"
    trace(files, output=tmp_path / "page.html", chrome=exported)
    assert capsys.readouterr().out == f"{tmp_path / 'page.html'}\n{exported}\n"


@pytest.mark.parametrize(
    ("files", "output", "said"),
    [
        (["foreign.txt"], None, "is no trace"),
        (["run.jsonl", "foreign.txt"], None, "is no trace"),
        (["run.jsonl"], "run.jsonl", "cannot be the same file"),
        (["run.jsonl"], "run.jsonl/page.html", "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], files: list[str], output: str | None, said: str
) -> None:
    kept = write(tmp_path / "run.jsonl", example()).read_text()
    (tmp_path / "foreign.txt").write_text("Dear diary\n")
    with pytest.raises(typer.Exit) as end:
        trace([tmp_path / file for file in files], output=tmp_path / output if output else None)
    out, err = capsys.readouterr()
    assert (end.value.exit_code, out) == (ExitCode.USAGE, "")
    assert said in err
    assert "hint: " in err
    assert (tmp_path / "run.jsonl").read_text() == kept
    assert names(tmp_path) == {"foreign.txt", "run.jsonl"}
