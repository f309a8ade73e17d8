"""Suites and questions on a real Ray cluster on this machine, with two workers."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from agent import Question
from agent.cluster import Cluster, ClusterUnusable, FanOut, Finished, Seat, Work, ask_many
from agent.cluster.versions import versions
from agent.errors import ConfigurationError, ModelRefused
from evals.runs.engine import LocalEngine
from evals.runs.journal import Journal
from evals.runs.plan import Plan
from evals.runs.ray_engine import RayEngine
from evals.runs.request import Request
from evals.runs.runner import Runner, Standing
from tests.agent.command import running
from tests.processes import browsers, is_browser
from tests.website import Website

ray = pytest.importorskip("ray", reason="needs the extra ray; the test extra has it")

PAGES = {
    "/": "<title>Depot</title><h1>Depot</h1><p>It opens at 7 o'clock.</p><a href='/tram'>Who built the tram</a>",
    "/tram": "<title>Tram</title><h1>Tram</h1><p>The tram was built in 1908 by Carl Lind.</p>",
}
TWO = Cluster(workers=2, start_seconds=60.0)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a cluster that this process has joined."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(16))  # else Ray leaves one in the home folder
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        ray.init("local", num_cpus=2, include_dashboard=False, object_store_memory=100 * 2**20, log_to_driver=False)
        yield ray.get_runtime_context().gcs_address
        ray.shutdown()


def plan(modes: str = "off,spec", **changed: Any) -> Plan:
    given = {"target": "gold", "pool_size": 1, "speculation": modes != "off"}
    changed |= {"limit": 4, "modes": modes, "time_scale": 0.02, "think": "none"}
    return Request(suite="institute", given=given, **changed).plan()


def family(seats: list[Seat]) -> set[psutil.Process]:
    """The workers' processes and all that they have started."""
    workers = [psutil.Process(seat.pid) for seat in seats]
    return {each for worker in workers for each in (worker, *worker.children(recursive=True))}


async def are_gone(processes: set[psutil.Process]) -> bool:
    alive = await asyncio.to_thread(lambda: psutil.wait_procs(processes, timeout=15)[1])
    return bool(processes) and not alive


async def test_a_suite_is_finished_although_a_worker_dies(address: str, tmp_path: Path) -> None:
    asked, seats, killed = plan(traces=True), list[Seat](), set[psutil.Process]()

    def kill_one(standing: Standing) -> None:
        if standing.latest is not None and not killed:
            killed.update(family(seats[:1]))
            os.kill(seats[0].pid, signal.SIGKILL)

    with Journal(tmp_path / "ray", asked.conditions) as journal:
        engine = RayEngine(asked, journal.folder, TWO, seated=seats.append)
        async with Runner(asked, journal, listener=kill_one, engine=engine) as runner:
            await runner.finished()
    lines = (tmp_path / "ray" / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(journal.records) == 8  # each once
    assert [record.broken for record in journal.records] == [""] * 8
    assert len(list((tmp_path / "ray" / "traces").iterdir())) == 8
    assert any(process.pid == seats[0].pid for process in killed)
    assert len(killed) > 3  # its driver and browsers
    assert await are_gone(killed)

    local = plan("off")
    with Journal(tmp_path / "local", local.conditions) as kept:
        async with Runner(local, kept, engine=LocalEngine(local, kept.folder)) as runner:
            await runner.finished()
    same = {record.item: (record.trajectory, record.scores.correct) for record in kept.records}
    assert len(same) == 4
    for record in journal.records:
        assert (record.trajectory, record.scores.correct) == same[record.item]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"engine": "slurm"}, "'slurm' is none"),
        ({"workers": 2}, "for --engine ray"),
        ({"ray_address": "x"}, "for --eng"),
    ],
)
def test_flags_that_name_no_cluster_are_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        Request(suite="institute", given={"target": "gold", **given}).plan()


async def test_whoever_leaves_early_leaves_no_worker_and_no_browser(address: str, tmp_path: Path) -> None:
    asked, seats, seated = plan(), list[Seat](), asyncio.Event()

    def sit(seat: Seat) -> None:
        seats.append(seat)
        seated.set()

    with Journal(tmp_path, asked.conditions) as journal:
        async with Runner(asked, journal, engine=RayEngine(asked, tmp_path, TWO, seated=sit)):
            async with asyncio.timeout(60):
                await seated.wait()
            left = family(seats)
    assert any(map(is_browser, left)) or len(left) > 2
    assert await are_gone(left)


async def test_a_killed_command_leaves_no_browser(address: str, tmp_path: Path) -> None:
    words = ("eval", "institute", "--limit", "4", "--target", "gold", "--time-scale", "0.02", "--out", "out")
    before = browsers()
    async with running(*words, "--engine", "ray", "--ray-address", address, "--workers", "1", cwd=tmp_path) as command:
        assert command.process.stderr is not None
        said = b""
        while b"a worker is ready" not in said:
            said = await command.process.stderr.readline()
            assert said, "it has ended"
        left = browsers() - before
        command.process.kill()
    assert await are_gone(left)


async def test_questions_from_python_keep_their_order(address: str) -> None:
    told: list[str] = []
    async with Website(PAGES) as site:
        questions = [Question(text=text, url=f"{site.url}/") for text in ("Who built the tram?", "When does it open?")]
        outcomes = await ask_many(
            questions, cluster=Cluster(workers=1), listener=lambda each, _: told.append(each.text), target="embedded"
        )
    assert ["Carl Lind" in outcomes[0].answer, "7 o'clock" in outcomes[1].answer] == [True, True]
    assert sorted(told) == sorted(each.text for each in questions)
    assert outcomes[0].trajectory[0].observation.title == "Depot"
    with pytest.raises(ConfigurationError, match="one process at a time"):
        await ask_many([], profile="mine")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """Opens a worker that squares numbers, dies of 13 and refuses 14."""

    refusal: str = ""

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[Work[int, int]]:
        if self.refusal:
            raise ConfigurationError(self.refusal, hint="Install one.")

        async def square(number: int) -> int:
            if number == 13:
                os.kill(os.getpid(), signal.SIGKILL)
            if number == 14:
                raise ModelRefused("fourteen", hint="Take less.")
            return number**2

        yield square


async def squares(numbers: list[int], opening: Opening = Opening(), *, at_once: int = 1) -> dict[int, int | str]:
    found: dict[int, int | str] = {}

    def keep(finished: Finished[int, int]) -> None:
        found[finished.task] = finished.lost or finished.result or 0

    async with Cluster(workers=1, start_seconds=60.0).joined() as joined:
        await FanOut(joined, opening, at_once=at_once).run(numbers, keep)
    return found


async def test_a_task_that_kills_every_worker_costs_no_other(address: str) -> None:
    found = await squares([1, 2, 13, 3])
    assert "3 workers died at it" in str(found.pop(13))
    assert found == {1: 1, 2: 4, 3: 9}


async def test_what_a_task_raises_ends_all_and_keeps_its_hint(address: str) -> None:
    with pytest.raises(ModelRefused, match="fourteen") as raised:
        await squares([1, 14, 2], at_once=2)
    assert raised.value.hint == "Take less."


async def test_a_worker_that_cannot_begin_or_runs_other_code_is_named(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ClusterUnusable, match=r"the worker on \S+ cannot begin: no browser") as raised:
        await squares([1], Opening(refusal="no browser"))
    assert raised.value.hint == "Install one."
    other = replace(versions(), package="0.0.0")
    monkeypatch.setattr("agent.cluster.ray_worker.versions", lambda: other)
    with pytest.raises(ClusterUnusable, match=r"this machine Python \S+ and speccache 0\.0\.0"):
        await squares([1])
