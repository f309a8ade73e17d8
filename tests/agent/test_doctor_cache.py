"""What the doctor says of shared caches, with a real server that each test sets up."""

from __future__ import annotations

import pytest

from agent import doctor_cache
from agent.doctor_cache import check_shared_cache
from tests.redis_server import RedisServer, needs_redis

pytestmark = needs_redis


@pytest.mark.parametrize(
    ("words", "status", "says", "hint"),
    [
        (("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"), "ok", "used of 100 MiB, allkeys-lru", ""),
        (("--maxmemory", "100mb", "--maxmemory-policy", "volatile-ttl"), "ok", "volatile-ttl", ""),
        ((), "warn", "used without a bound", "set maxmemory 1gb"),
        (("--maxmemory", "100mb", "--maxmemory-policy", "noeviction"), "warn", "noeviction", "allkeys-lru"),
        (("--rename-command", "INFO", ""), "ok", "a server, an answer takes", ""),
        (("--rename-command", "EVALSHA", ""), "warn", "cannot be used: unknown command", "what the user may do"),
    ],
    ids=["bounded", "by lifetime", "without a bound", "never drops", "tells nothing", "runs no scripts"],
)
async def test_a_server_is_asked_what_it_is(words: tuple[str, ...], status: str, says: str, hint: str) -> None:
    async with RedisServer(*words) as server:
        check = await check_shared_cache(server.url)
    assert (check.name, check.status) == ("shared cache", status)
    assert check.detail.startswith(server.url)
    assert says in check.detail
    assert hint in check.hint
    assert bool(check.hint) == (status != "ok")


async def test_a_slow_one_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_cache, "_SLOW_SECONDS", 0.0)
    async with RedisServer("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru") as server:
        check = await check_shared_cache(server.url)
    assert check.status == "warn"
    assert "bring it nearer" in check.hint


async def test_one_that_refuses_or_is_gone_is_told_without_who_asked() -> None:
    async with RedisServer("--requirepass", "right-word") as server:
        right, wrong = (server.url.replace("://", f"://somebody:{word}@") for word in ("right-word", "wrong-word"))
        refused = await check_shared_cache(wrong)
        accepted = await check_shared_cache(right.replace("somebody", "default"))
    gone = await check_shared_cache(right)
    assert (accepted.status, refused.status, gone.status) == ("warn", "warn", "warn")
    assert "without a bound" in accepted.detail
    assert "cannot be used" in refused.detail
    assert "cannot be used" in gone.detail
    for word in ("somebody", "right-word", "wrong-word"):
        assert word not in f"{accepted}{refused}{gone}"
