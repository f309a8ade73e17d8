"""`--shared-cache`: what one run has loaded, another has; without the server the question is answered all the same."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.agent import Agent
from agent.errors import ConfigurationError
from agent.events import RunEvent
from agent.settings import load_settings
from agent.web import open_pool
from speccache import Event, EventKind
from tests.agent.command import running
from tests.agent.test_shelf_flag import PAGES, QUESTION, pages_asked
from tests.redis_server import RedisServer, needs_redis
from tests.website import Website

PASSWORD = "a-word-nobody-sees"


@pytest.fixture
async def site() -> AsyncIterator[Website]:
    async with Website(PAGES) as website:
        yield website


@needs_redis
async def test_a_second_run_asks_the_site_for_nothing(site: Website) -> None:
    events: list[RunEvent] = []
    async with RedisServer() as redis:
        settings = load_settings(target="embedded", pool_size=1, shared_cache=redis.url)
        async with open_pool(settings) as pool:
            agent = Agent(settings, pool)
            cold = await agent.ask(QUESTION, url=site.url + "/")
            assert pages_asked(site) == {"/", "/tram"}
            site.asked.clear()
            warm = await agent.ask(QUESTION, url=site.url + "/", listeners=[events.append])
    assert pages_asked(site) == set()
    assert "1908" in warm.answer
    assert (warm.answer, warm.as_json()["pages"], warm.account.misses) == (cold.answer, cold.as_json()["pages"], 0)
    hits = [event for event in events if isinstance(event, Event) and event.kind in (EventKind.HIT, EventKind.JOIN)]
    assert [event.reason for event in hits] == ["shared", "shared"]


@needs_redis
async def test_a_server_that_dies_is_told_of_and_its_password_is_not(site: Website, tmp_path: Path) -> None:
    words = ("ask", QUESTION, "--url", site.url + "/", "--target", "embedded", "--trace", "trace.jsonl", "--json", "-v")
    gate = site.shut("/tram")
    async with RedisServer("--requirepass", PASSWORD) as redis:
        address = {"SPECCACHE_SHARED_CACHE": redis.url.replace("//", f"//:{PASSWORD}@")}
        async with running(*words, cwd=tmp_path, variables=address) as command:
            await site.arrived("/tram")
            await redis.kill()
            gate.set()
            result = await command.result()
    shown, trace = json.loads(result.out), (tmp_path / "trace.jsonl").read_text(encoding="utf-8")
    assert "1908" in shown["answer"]
    lost = f"The shared cache at {redis.url} cannot be used"
    assert result.err.count(lost) == 1
    (notice,) = shown["notices"]
    assert notice.startswith(lost)
    assert [line["text"] for line in map(json.loads, trace.splitlines()) if line["event"] == "notice"] == [notice]
    assert PASSWORD not in result.out + result.err + trace


def test_it_is_not_read_from_a_file_nor_used_beside_a_shelf_nor_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    address = f"redis://:{PASSWORD}@10.0.0.1"
    (tmp_path / "speccache.toml").write_text(f'shared_cache = "{address}"')
    with pytest.raises(ConfigurationError, match="shared_cache is not read from a file") as from_file:
        load_settings()
    (tmp_path / "speccache.toml").unlink()
    with pytest.raises(ConfigurationError, match="on a shelf or in a shared cache") as beside:
        load_settings(shared_cache=address, shelf="pages")
    with pytest.raises(ConfigurationError, match="redis://host:6379/0") as wrong:
        load_settings(shared_cache=address.replace("redis", "http"))
    assert all(PASSWORD not in f"{refused.value} {refused.value.hint}" for refused in (from_file, beside, wrong))
    assert PASSWORD not in repr(load_settings(shared_cache=address))
