"""`speccache eval` and `pytest evals`, with real Chromium on the bundled site."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.agent.command import running, speccache
from tests.evals import plain_trace
from tests.evals.test_report_truth import check_report

ROOT = Path(__file__).parents[2]
FAST = ("--target", "gold", "--time-scale", "0.02")
IDS = ("--id", "merrowdale-en-history-1", "--id", "merrowdale-zh-history-1")


async def test_a_suite_in_three_modes_and_then_in_one_more(tmp_path: Path) -> None:
    words = ("eval", "institute", *IDS, *FAST, "--questions-at-once", "2", "--out", "out", "--json", "--traces")
    result = await speccache(*words, "--modes", "off,spec", cwd=tmp_path)
    assert result.code == 0, result.err
    report = json.loads(result.out)
    assert set(report["modes"]) == {"off", "spec"}
    assert report["modes"]["spec"]["same_trajectory"] is True
    assert report["modes"]["spec"]["accuracy"] == 1
    assert report["modes"]["off"]["hit_or_join"] == 0
    assert all("simulated" in caveat for caveat in report["caveats"])
    assert len(report["caveats"]) == 3
    assert (tmp_path / "out" / "report.html").stat().st_size > 10_000
    assert json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8")) == report

    more = await speccache(*words, "--modes", "off,spec,oracle", cwd=tmp_path)
    assert more.code == 0, more.err
    asked = [line for line in more.err.splitlines() if " of 6 " in line]
    assert len(asked) == 2  # what was found before is not asked again
    assert all("oracle" in line for line in asked)
    report = json.loads(more.out)
    assert report["modes"]["oracle"]["hit_or_join"] == 1
    assert report["modes"]["oracle"]["same_trajectory"] is True
    assert report["questions"]["not_side_by_side"] == {"oracle": 2}
    rows = [json.loads(line) for line in (tmp_path / "out" / "runs.jsonl").read_text(encoding="utf-8").splitlines()]
    check_report(rows, report)
    for row in rows:
        _check_record(row, tmp_path / "out" / "traces" / f"{row['item']}-{row['mode']}.jsonl")

    other = await speccache(*words, "--modes", "off,spec", "--max-guesses", "5", cwd=tmp_path)
    assert (other.code, "max_guesses was 3, is 5" in other.err) == (2, True)


def _check_record(row: dict[str, Any], trace: Path) -> None:
    """Check a record against its trace, from which the same was worked out plainly."""
    lines = plain_trace.read(trace)
    facts = plain_trace.facts(lines)
    told = {name: row[name] for name in facts}
    assert told == {
        name: pytest.approx(fact, abs=0.02) if isinstance(fact, float) else fact for name, fact in facts.items()
    }
    steps = plain_trace.steps(lines)
    if row["mode"] == "off":  # where nothing is loaded ahead, no cache tells of pages
        steps = [step | {"kind": "miss"} for step in steps]
    assert [{name: step[name] for name in steps[0]} for step in row["steps"]] == steps


async def test_an_interrupted_suite_keeps_what_was_found_and_goes_on(tmp_path: Path) -> None:
    words = ("eval", "institute", "--limit", "3", *FAST, "--modes", "off,lru", "--out", "out")
    async with running(*words, cwd=tmp_path) as command:
        assert command.process.stderr is not None
        while b" of 6 " not in await command.process.stderr.readline():
            pass
        family = psutil.Process(command.process.pid).children(recursive=True)
        command.process.send_signal(signal.SIGINT)
        result = await command.result()
    assert psutil.wait_procs(family, timeout=10)[1] == []
    assert result.code == 130
    assert "go on with --out out" in result.err
    assert "SIMULATED" in result.out
    found = (tmp_path / "out" / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    assert 1 <= len(found) < 6
    assert all(json.loads(line)["broken"] == "" for line in found)
    assert (await speccache(*words, cwd=tmp_path)).code == 0
    assert len((tmp_path / "out" / "runs.jsonl").read_text(encoding="utf-8").splitlines()) == 6


async def test_as_tests_a_wrong_answer_passes_and_a_dead_model_fails(tmp_path: Path) -> None:
    wrong, broken = await _pytest(tmp_path, "embedded"), await _pytest(tmp_path, "small", "-k", "spec")
    assert (wrong.code, "2 passed" in wrong.out) == (0, True), wrong.out
    assert "merrowdale-en-history-1-spec" in wrong.out
    assert "SIMULATED" in wrong.out
    assert (broken.code, "1 failed, 1 deselected" in broken.out) == (1, True), broken.out
    runs = (tmp_path / "small" / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["mode"] for line in runs] == ["spec"]  # what is left out is not asked
    assert "127.0.0.1:9" in broken.out
    assert "Traceback" not in broken.out


async def test_what_pytest_cannot_do_is_told(tmp_path: Path) -> None:
    nothing = await _pytest(tmp_path, "gold", suite=())
    assert (nothing.code, "pytest evals --suite NAME" in nothing.err) == (4, True)
    several = await _pytest(tmp_path, "gold", "-n", "2")
    assert (several.code, "--questions-at-once" in several.err) == (4, True)
    unknown = await _pytest(tmp_path, "gold", "--modes", "fast")
    assert (unknown.code, "'fast' is no mode" in unknown.err) == (4, True)


class _Tests:
    def __init__(self, code: int, out: bytes, err: bytes) -> None:
        self.code, self.out, self.err = code, out.decode(), err.decode()


async def _pytest(folder: Path, target: str, *words: str, suite: Sequence[str] = ("--suite", "institute")) -> _Tests:
    flags = [*suite, *IDS[:2], "--modes", "off,spec", "--time-scale", "0", "--think", "none"]
    endpoint = ["--base-url", "http://127.0.0.1:9/v1"] if target == "small" else []
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pytest", "evals", "-v", "-p", "no:cacheprovider"),
        *(*flags, "--target", target, *endpoint, "--max-turns", "3", "--out", str(folder / target), *words),
        cwd=ROOT,
        env={**os.environ, "SPECCACHE_MODEL_RETRIES": "0", "COLUMNS": "120"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return _Tests(process.returncode or 0, out, err)
