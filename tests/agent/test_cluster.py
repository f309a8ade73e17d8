"""What is decided of a cluster before there is one: who does which task, and how limits are shared."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import subprocess
import sys

import psutil
import pytest

from agent.cluster import Cluster, ClusterUnusable, WorkerLost
from agent.cluster.backlog import Attempt, Backlog
from agent.cluster.opening import carried_variables
from agent.cluster.shares import share_of
from agent.cluster.versions import versions
from agent.settings import load_settings
from tests.ray_token import RAY_TOKEN


def test_ray_is_imported_only_where_a_cluster_is_joined() -> None:
    asked = "import sys, agent.cluster, evals.command; print('ray' in sys.modules)"
    outcome = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert outcome.stdout == "False\n"


async def test_what_comes_back_is_begun_before_all_others() -> None:
    backlog = Backlog(["a", "b"], max_attempts=3)
    first = await backlog.take()
    assert backlog.give_back(first)
    assert await backlog.take() == Attempt(task="a", number=2)


async def test_a_task_that_kills_its_workers_is_lost_in_the_end() -> None:
    backlog = Backlog(["a"], max_attempts=2)
    assert backlog.give_back(await backlog.take())
    assert not backlog.give_back(await backlog.take())
    assert backlog.finished.is_set()


async def test_who_waits_gets_what_comes_back_and_a_cancelled_one_takes_nothing() -> None:
    backlog = Backlog(["a"], max_attempts=3)
    taken = await backlog.take()
    async with asyncio.TaskGroup() as group:
        cancelled = group.create_task(backlog.take())
        waiting = group.create_task(backlog.take())
        await asyncio.sleep(0)
        cancelled.cancel()
        backlog.give_back(taken)
    assert (await waiting).number == 2
    assert not backlog.finished.is_set()
    backlog.settle()
    assert backlog.finished.is_set()


def test_with_nothing_to_do_all_is_done() -> None:
    assert Backlog[str]([], max_attempts=1).finished.is_set()


def test_limits_hold_for_all_workers_together() -> None:
    settings = load_settings(model_calls={"openai": 100, "google": 7}, host_rate=3.0)
    shared = share_of(settings, 4)
    assert shared.model_calls == {"openai": 25, "google": 1}
    assert shared.host_rate == 0.75
    assert share_of(load_settings(model_calls=9), 2).model_calls == 4
    assert share_of(load_settings(), 8) == load_settings()
    with pytest.raises(ClusterUnusable, match="7 model calls a minute cannot be shared by 8 workers"):
        share_of(settings, 8)


def test_keys_and_secrets_are_carried_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "SPECCACHE_SECRET_PIN", "SPECCACHE_TARGET", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "x")
    assert {"ANTHROPIC_API_KEY", "SPECCACHE_SECRET_PIN"} <= carried_variables().keys()
    assert not {"SPECCACHE_TARGET", "HTTPS_PROXY", "PATH"} & carried_variables().keys()


def test_versions_are_told_in_words() -> None:
    assert str(versions()).startswith(f"Python {sys.version_info.major}.{sys.version_info.minor} and speccache ")


def test_errors_keep_their_hint_on_their_way_between_processes() -> None:
    copied = pickle.loads(pickle.dumps(WorkerLost("gone", hint="Look.")))
    assert (str(copied), copied.hint) == ("gone", "Look.")


async def test_a_cluster_that_is_not_there_is_told_of_at_once(unused_tcp_port: int) -> None:
    pytest.importorskip("ray", reason="needs the extra ray; the test extra has it")
    address = f"127.0.0.1:{unused_tcp_port}"
    with pytest.raises(ClusterUnusable, match=f"the Ray cluster at {address} cannot be joined"):
        async with Cluster(address=address).joined():
            pass


async def test_one_cluster_serves_all_runs_of_a_process_and_ends_with_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray", reason="needs the extra ray; the test extra has it")
    monkeypatch.setenv("RAY_AUTH_TOKEN", RAY_TOKEN)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    here, before = psutil.Process(), set(psutil.Process().children(recursive=True))
    there, leaving = asyncio.Event(), asyncio.Event()

    async def run(inside: asyncio.Event) -> None:
        async with Cluster(workers=1).joined():
            inside.set()
            await leaving.wait()

    hasty = [asyncio.create_task(run(asyncio.Event())) for _ in range(2)]
    await asyncio.sleep(0)  # they are joining by now
    for task in hasty:
        task.cancel()
    last = asyncio.create_task(run(there))
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, last.cancel)
    await asyncio.wait(hasty)
    assert [task.cancelled() for task in hasty] == [True, True]
    await there.wait()
    started = set(here.children(recursive=True)) - before
    assert ray.is_initialized()
    assert started
    with pytest.raises(ClusterUnusable, match=r"it cannot join 127\.0\.0\.1:1 as well"):
        async with Cluster(address="127.0.0.1:1").joined():
            pass
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.wait([last])
    loop.remove_signal_handler(signal.SIGTERM)
    assert not ray.is_initialized()
    assert not (await asyncio.to_thread(psutil.wait_procs, started, timeout=15))[1]
