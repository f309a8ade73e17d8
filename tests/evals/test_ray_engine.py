"""Suites and questions on a real Ray cluster on this machine, with two workers."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from agent.cluster import Cluster, ClusterUnusable, FanOut, Finished, Seat, Work, ask_many
from agent.cluster.versions import versions
from agent.errors import ConfigurationError, ModelRefused
from evals.runs.engine import LocalEngine
from evals.runs.journal import Journal
from evals.runs.plan import Plan
from evals.runs.ray_engine import RayEngine
from evals.runs.record import Record
from evals.runs.request import Request
from evals.runs.runner import Runner, Standing
from evals.suites import Item
from evals.suites.questions_file import write_items
from tests.agent.command import Running, running
from tests.browser.test_shared_cache import asking
from tests.conventions.pages import blocks
from tests.endpoints.scripted import Say, ScriptedEndpoint
from tests.processes import browsers, is_browser
from tests.ray_token import RAY_TOKEN
from tests.redis_server import RedisServer, needs_redis
from tests.website import Website

ray = pytest.importorskip("ray", reason="needs the extra ray; the test extra has it")

PAGES = {
    "/": "<title>Depot</title><h1>Depot</h1><p>It opens at 7 o'clock.</p><a href='/tram'>Who built the tram</a>",
    "/tram": "<title>Tram</title><h1>Tram</h1><p>The tram was built in 1908 by Carl Lind.</p>",
}
WALK = {
    **dict.fromkeys(("/first", "/second"), "<a href='/'>The depot of the tram</a>"),
    "/": "<title>Depot</title><h1>Depot</h1><a href='/tram'>The tram</a>",
    "/tram": f"{PAGES['/tram']}<a href='/lind'>Carl Lind</a>",
    "/lind": "<title>Carl Lind</title><h1>Carl Lind</h1><p>He built the tram.</p>",
}
VERDICT = Say('{"reason": "same", "correct": true}')
TWO = Cluster(workers=2, start_seconds=60.0)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a cluster that this process has joined."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_TOKEN", RAY_TOKEN)
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


async def line_with(words: str, command: Running) -> str:
    assert command.process.stderr is not None
    while words not in (said := (await command.process.stderr.readline()).decode()):
        assert said, "it has ended"
    return said


async def test_a_killed_command_leaves_no_browser_and_only_data_on_stdout(address: str, tmp_path: Path) -> None:
    words = ("eval", "institute", "--limit", "4", "--target", "gold", "--time-scale", "0.02", "--out", "out")
    before = browsers()
    async with running(*words, "--engine", "ray", "--ray-address", address, "--workers", "1", cwd=tmp_path) as command:
        (first,) = re.findall(r"process (\d+)", await line_with("a worker is ready", command))
        os.kill(int(first), signal.SIGKILL)
        await line_with("a worker was lost", command)
        await line_with("a worker is ready", command)
        left = browsers() - before
        command.process.kill()
        assert (await command.process.communicate())[0] == b""
    assert await are_gone(left)


@needs_redis
async def test_the_example_of_the_docs_answers_in_order_although_a_worker_dies_with_a_lease(
    address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = (block.text for block in blocks("docs/library.md") if "ask_many" in block.text)
    async with RedisServer() as redis, asking(redis) as cache, Website(PAGES) as site:
        monkeypatch.setenv("SPECCACHE_SHARED_CACHE", redis.url)
        code = compile(example.replace("https://example.org", site.url), "example", "exec", PyCF_ALLOW_TOP_LEVEL_AWAIT)
        gate, names = site.shut("/tram"), dict[str, Any]()

        async def kill() -> None:
            await site.arrived("/tram")
            (worker,) = {parent for browser in browsers() for parent in browser.parents() if "ray::" in parent.name()}
            assert await cache.keys("speccache:1:lease:*")
            worker.kill()
            gate.set()

        async with asyncio.TaskGroup() as group:
            group.create_task(kill())
            await eval(code, names)
        assert len(await cache.keys("speccache:1:page:*")) == len(PAGES)
    tram, depot = names["outcomes"]
    assert "Carl Lind" in tram.answer
    assert "7 o'clock" in depot.answer
    assert tram.trajectory[0].observation.title == "Depot"
    told = {f"When does it open? {depot.answer}", f"Who built the tram? {tram.answer}"}
    assert told <= set(capsys.readouterr().out.splitlines())
    with pytest.raises(ConfigurationError, match="one process at a time"):
        await ask_many([], profile="mine")


def walk(folder: Path, site: Website, judge: ScriptedEndpoint, **given: Any) -> Plan:
    """One question twice, from a page of its own each time; the rest of the way is the same."""
    items = [
        Item(id=name, question="Who built the tram?", answer=f"{name}: Carl Lind", url=f"{site.url}/{name}")
        for name in ("first", "second")
    ]
    write_items(folder / "walk.jsonl", items)
    given |= {"target": "embedded", "base_url": judge.base_url, "pool_size": 1, "questions_at_once": 1}
    return Request(suite=str(folder / "walk.jsonl"), modes="spec", judge="scripted", given=given).plan()


@needs_redis
async def test_workers_with_a_shared_cache_ask_a_site_for_each_page_once(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with RedisServer() as redis, Website(WALK) as site, ScriptedEndpoint(lambda _: VERDICT) as judge:
        monkeypatch.setenv("SPECCACHE_API_KEY", judge.api_key)
        first, second = site.shut("/first"), site.shut("/second")

        async def begin() -> None:
            await site.arrived("/first")
            await site.arrived("/second")
            first.set()

        def go_on(standing: Standing) -> None:
            if standing.latest is not None:
                second.set()

        shared = walk(tmp_path, site, judge, shared_cache=redis.url)
        with Journal(tmp_path / "ray", shared.conditions) as journal:
            engine = RayEngine(shared, journal.folder, TWO)
            async with asyncio.TaskGroup() as group, Runner(shared, journal, listener=go_on, engine=engine) as runner:
                group.create_task(begin())
                await runner.finished()
        assert {path: site.count(path) for path in WALK} == dict.fromkeys(WALK, 1)

        local = walk(tmp_path, site, judge)
        with Journal(tmp_path / "local", local.conditions) as kept:
            alone = LocalEngine(local, kept.folder)
            async with Runner(local, kept, engine=alone) as runner:
                await runner.finished()
    assert set(map(found, journal.records)) == set(map(found, kept.records))
    for record in journal.records:
        assert {f"visit {site.url}{path}" for path in WALK.keys() & PAGES} < set(record.trajectory)
    assert (len(judge.requests), engine.judging.as_json()) == (4, alone.judging.as_json())
    assert str(engine.judging).startswith("2 requests")


def found(record: Record) -> tuple[object, ...]:
    return record.item, record.status, record.answer, record.trajectory, record.scores


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
