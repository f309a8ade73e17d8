"""The shared cache: what one worker has loaded, the others have; and a server in trouble breaks no run.

With a real Redis, which each test starts for itself.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import zlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web
from redis.asyncio import Redis

from browser import Observation
from browser.shared_cache.address import CacheAddress, parse_cache_address
from browser.shared_cache.cache import SharedCache, SharedCacheOptions
from browser.shared_cache.health import Health
from browser.shared_cache.link import CacheLink, LinkOptions
from browser.shelf import codec
from tests.browser.test_shelf import KEY, OBSERVATION, URL
from tests.redis_server import RedisServer, needs_redis
from tests.website import Website

ROOT = Path(__file__).parents[2]
PATIENT = LinkOptions(patience_seconds=30.0, open_seconds=30.0, first_pause_seconds=0.0, beat_seconds=0.01)
HASTY = replace(PATIENT, patience_seconds=0.02, open_seconds=30.0)

pytestmark = needs_redis


@pytest.fixture
async def redis() -> AsyncIterator[RedisServer]:
    async with RedisServer() as server:
        yield server


@asynccontextmanager
async def asking(server: RedisServer) -> AsyncIterator[Redis]:
    client = Redis.from_url(server.url, protocol=2)
    try:
        yield client
    finally:
        await client.aclose()


def cache_of(
    link: CacheLink,
    *,
    key: str | None = KEY,
    part_chars: int = 2000,
    named_hosts: Sequence[str] = (),
    options: SharedCacheOptions = SharedCacheOptions(first_look_seconds=0.001),
) -> SharedCache:
    return SharedCache(
        link,
        name_of=lambda _: key,
        part_chars=part_chars,
        named_hosts=named_hosts,
        options=options,
        clock=lambda: 1000.0,
    )


def link_to(server: RedisServer, options: LinkOptions = PATIENT) -> CacheLink:
    return CacheLink(parse_cache_address(server.url), options=options)


async def two_caches(server: RedisServer, stack: AsyncExitStack) -> tuple[SharedCache, SharedCache]:
    first, second = [await stack.enter_async_context(link_to(server)) for _ in range(2)]
    return cache_of(first), cache_of(second)


async def put(link: CacheLink, observation: Observation = OBSERVATION, *, key: str = KEY) -> None:
    """Load a page as a run does, and wait until it is written."""
    cache = cache_of(link, key=key)
    assert await cache.claim(key) is None
    cache.put(key, observation)
    cache.release(key)
    await link._backlog.join()


async def until(state: Callable[[], object]) -> None:
    while not state():
        await asyncio.sleep(0)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


async def test_what_one_worker_has_put_there_another_finds(redis: RedisServer) -> None:
    async with link_to(redis) as first, link_to(redis) as second:
        await put(first)
        found = await cache_of(second).claim(KEY)
        assert found is not None
        assert (found.value, found.origin) == (OBSERVATION, "shared")
        assert 599 < (found.remaining_seconds or 0) <= 600
        assert await cache_of(second, part_chars=3000).claim(KEY) is None, (
            "cut into other parts, it shows something else"
        )
        assert await cache_of(second).claim(KEY.replace("en-US", "de-DE")) is None


@pytest.mark.parametrize("key_now", [f"{URL} 0123456789ab viewport en-US", None], ids=["signed in", "without a name"])
async def test_what_a_session_saw_is_not_put_there(redis: RedisServer, key_now: str | None) -> None:
    async with link_to(redis) as link, asking(redis) as client:
        cache = cache_of(link, key=key_now)
        for key in (KEY, f"{URL} 0123456789ab viewport en-US"):
            assert await cache.claim(key) is None
            cache.put(key, OBSERVATION)
            cache.release(key)
        await link._backlog.join()
        assert await client.keys("speccache:1:page:*") == []


async def test_a_private_page_is_only_for_a_run_whose_user_named_its_host(redis: RedisServer) -> None:
    url = "http://10.0.0.1/"
    key = f"{url} anonymous viewport en-US"
    page = replace(OBSERVATION, document=replace(OBSERVATION.document, requested_url=url, url=url))
    async with link_to(redis) as link:
        await put(link, page, key=key)
        assert await cache_of(link, key=key).claim(key) is None
        assert await cache_of(link, key=key, named_hosts=["10.0.0.1"]).claim(key) is not None


async def test_a_page_that_another_worker_loads_is_waited_for(redis: RedisServer) -> None:
    async with AsyncExitStack() as stack:
        ours, theirs = await two_caches(redis, stack)
        assert await theirs.claim(KEY) is None
        waiting = asyncio.create_task(ours.claim(KEY))
        theirs.put(KEY, OBSERVATION)
        theirs.release(KEY)
        found = await waiting
        assert found is not None
        assert found.value == OBSERVATION


async def test_a_turn_that_is_given_back_is_anothers_and_an_unfit_page_is_anybodys(redis: RedisServer) -> None:
    unfit = replace(OBSERVATION, document=replace(OBSERVATION.document, headers={"cache-control": "no-store"}))
    async with AsyncExitStack() as stack:
        ours, theirs = await two_caches(redis, stack)
        client = await stack.enter_async_context(asking(redis))
        assert await theirs.claim(KEY) is None
        theirs.release(KEY)
        assert await ours.claim(KEY) is None
        ours.put(KEY, unfit)
        ours.release(KEY)
        assert await theirs.claim(KEY) is None
        assert await ours.claim(KEY) is None, "nobody waits for what is not kept"
        ((lease,), pages) = await client.keys("speccache:1:lease:*"), await client.keys("speccache:1:page:*")
        assert (await client.get(lease), pages) == (b"unfit", [])
        theirs.put(KEY, OBSERVATION)
        assert await _eventually(ours) == OBSERVATION, "once it is fit, it is kept"


async def _eventually(cache: SharedCache) -> Observation:
    while (found := await cache.claim(KEY)) is None:
        cache.release(KEY)
    return found.value


async def test_a_page_that_is_too_large_is_known_to_be_unfit(redis: RedisServer) -> None:
    async with link_to(redis, replace(PATIENT, max_page_bytes=100)) as link, asking(redis) as client:
        await put(link)
        ((lease,), pages) = await client.keys("speccache:1:lease:*"), await client.keys("speccache:1:page:*")
        assert (await client.get(lease), pages) == (b"unfit", [])
        assert await cache_of(link).claim(KEY) is None, "nobody waits for it"


async def test_the_turn_of_a_worker_that_died_ends_and_one_that_lives_keeps_it(redis: RedisServer) -> None:
    async with asking(redis) as client, link_to(redis) as link, link_to(redis) as other:
        cache = cache_of(link)
        assert await cache.claim(KEY) is None
        (lease,) = await client.keys("speccache:1:lease:*")
        waiting = asyncio.create_task(cache_of(other).claim(KEY))
        left_ms = await client.pttl(lease)
        while (now_ms := await client.pttl(lease)) <= left_ms:
            left_ms = now_ms
        assert not waiting.done(), "it was renewed"
        for task in link._tasks:
            task.cancel()  # as dead as it can be in this process
        await asyncio.wait(link._tasks)
        await client.pexpire(lease, 1)  # the time until it ends
        assert await waiting is None
        assert await client.get(lease) not in (None, b"unfit"), "it is the other's turn"
        await link.release(lease.decode(), "another token")
        assert await client.get(lease) is not None


async def test_a_cancelled_claim_leaves_nothing_behind_and_mixes_up_no_answers(redis: RedisServer) -> None:
    async with link_to(redis) as link, asking(redis) as client:
        await put(link)
        cache = cache_of(link)
        keys = [f"{URL}/{number} anonymous viewport en-US" for number in range(5)]
        for rounds in range(60):
            claims = [asyncio.create_task(cache.claim(key)) for key in keys]
            for _ in range(rounds):
                await asyncio.sleep(0)
            cancelled = [claim for claim in claims if claim.cancel()]
            await asyncio.wait(claims)
            assert all(claim.cancelled() for claim in cancelled), "whoever cancels is not kept waiting"
            for key in keys:
                cache.release(key)
            found = await cache.claim(KEY)
            assert found is not None
            assert found.value == OBSERVATION
        await link._backlog.join()
        assert await client.keys("speccache:1:lease:*") == []
        assert link._leases == {}


async def test_what_somebody_else_wrote_there_is_no_page_and_is_written_anew(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codec, "_MAX_TEXT_BYTES", 1_000_000)
    bomb = zlib.compress(bytes(2_000_000))
    async with link_to(redis, replace(PATIENT, max_page_bytes=len(bomb))) as link, asking(redis) as client:
        await put(link)
        (page,) = await client.keys("speccache:1:page:*")
        body = await client.get(page)
        for bad in (
            b"no zlib",
            zlib.compress(b'{"document": 1}'),
            zlib.compress(b"\xff"),
            body[:-1],
            bomb,
            bomb + b".",
        ):
            await client.set(page, bad, px=600_000)
            await put(link)
            assert await cache_of(link).claim(KEY) is not None
        await client.set(page, body)
        assert await cache_of(link).claim(KEY) is None, "nothing is kept for ever"
        await client.delete(page)
        await client.lpush(page, "a list")
        await put(link)
        assert await cache_of(link).claim(KEY) is not None


async def test_a_server_that_dies_is_told_of_once_and_used_again_when_it_is_back(
    redis: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with link_to(redis) as link:
        await put(link)
        cache = cache_of(link)
        await redis.kill()
        for _ in range(5):
            assert await cache.claim(KEY) is None
            cache.put(KEY, OBSERVATION)
            cache.release(KEY)
        (lost,) = warnings(caplog)
        assert f"at {redis.url} cannot be used" in lost
        await redis.start()
        await until(lambda: link.health.usable)
        await put(link)
        assert await cache.claim(KEY) is not None
    assert warnings(caplog)[1:] == [f"The shared cache at {redis.url} is used again."]


@asynccontextmanager
async def held_up(server: RedisServer, gate: asyncio.Event, *, what: bytes = b"") -> AsyncIterator[CacheAddress]:
    """Give the address of a proxy that holds back the server's answers with this in them until the gate is open."""

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, held: bool) -> None:
        while data := await reader.read(65536):
            if held and what in data:
                await gate.wait()
            writer.write(data)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, forth = await asyncio.open_connection("127.0.0.1", server.port)
        ways = [
            asyncio.create_task(pump(reader, forth, held=False)),
            asyncio.create_task(pump(back, writer, held=True)),
        ]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        forth.close()
        writer.close()

    proxy = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield parse_cache_address(f"redis://127.0.0.1:{proxy.sockets[0].getsockname()[1]}")
    finally:
        gate.set()
        proxy.close()


async def test_a_slow_server_costs_its_patience_a_few_times_and_then_nothing(
    redis: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    gate = asyncio.Event()
    gate.set()
    async with held_up(redis, gate) as address, CacheLink(address, options=HASTY) as link:
        cache = cache_of(link)
        gate.clear()
        for _ in range(10):
            assert await cache.claim(KEY) is None
        (slow,) = warnings(caplog)
        assert "cannot be used (no answer within 0.02 s)" in slow
        gate.set()
        await until(lambda: link.health.usable)
    assert len(warnings(caplog)) == 2


async def test_a_large_page_may_take_longer_than_an_answer(redis: RedisServer) -> None:
    async with link_to(redis) as link, asking(redis) as client:
        await put(link)
        (page,) = await client.keys("speccache:1:page:*")
        body = await client.get(page)
    gate, now = asyncio.Event(), asyncio.get_running_loop().time
    options = replace(PATIENT, patience_seconds=0.5, inline_bytes=len(body) - 1, least_bytes_per_second=1)
    async with held_up(redis, gate, what=body) as address, CacheLink(address, options=options) as link:
        claim = asyncio.create_task(cache_of(link).claim(KEY))
        late_seconds = now() + 1.5 * options.patience_seconds
        await until(lambda: now() > late_seconds)
        assert not claim.done()
        gate.set()
        found = await claim
        assert found is not None
        assert found.value == OBSERVATION


async def test_threads_that_others_hold_hold_up_no_page(redis: RedisServer) -> None:
    gate, loop = threading.Event(), asyncio.get_running_loop()
    others = [loop.run_in_executor(None, gate.wait) for _ in range(64)]
    try:
        async with link_to(redis) as link:
            await put(link)
            assert await cache_of(link).claim(KEY) is not None
    finally:
        gate.set()
    await asyncio.wait(others)


async def test_a_server_that_takes_writes_is_not_fast_enough_for_it(redis: RedisServer) -> None:
    async with link_to(redis, replace(HASTY, first_pause_seconds=60.0)) as link:
        for _ in range(3):
            await link.release("speccache:1:lease:none", "token")
            link.health.late(HASTY.patience_seconds)
        assert not link.health.usable


def test_large_pages_that_come_late_are_not_excused_by_quick_answers() -> None:
    health = Health(parse_cache_address("redis://h"), first_pause_seconds=1.0)
    for _ in range(3):
        assert health.usable
        health.answered()
        health.late(0.3, "page")
    assert not health.usable


def test_each_try_that_fails_doubles_the_pause() -> None:
    now_seconds = 0.0
    address = parse_cache_address("redis://h")
    health = Health(address, first_pause_seconds=1.0, clock=lambda: now_seconds)
    for pause_seconds in (1.0, 2.0, 4.0):
        for _ in range(3):
            health.lost("gone")
            health.refused("full")
        assert not health.may_be_asked
        now_seconds += pause_seconds
        assert health.may_be_asked
    assert not health.usable
    health.answered()
    assert health.takes_pages


def test_whoever_listens_is_told_of_each_change_and_of_what_was_lost_before() -> None:
    health = Health(parse_cache_address("redis://:word@h"), first_pause_seconds=0.0)
    first: list[str] = []
    second: list[str] = []
    with health.told_to(first.append):
        health.lost("wrong word")
        health.lost("gone")
        with health.told_to(second.append):
            health.answered()
    health.refused("full")
    lost = "The shared cache at redis://h:6379/0 cannot be used (wrong ***); pages are loaded without it."
    assert first == second == [lost, "The shared cache at redis://h:6379/0 is used again."]


async def test_a_full_server_is_told_of_once_and_what_it_has_is_used(
    redis: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with asking(redis) as client, link_to(redis, replace(PATIENT, first_pause_seconds=60.0)) as link:
        await put(link)
        await client.config_set("maxmemory-policy", "noeviction")
        await client.config_set("maxmemory", "1mb")
        for number in range(3):
            key = f"{URL}/{number} anonymous viewport en-US"
            await put(link, key=key)
            assert await cache_of(link, key=key).claim(key) is None
        assert await cache_of(link).claim(KEY) is not None
        (full,) = warnings(caplog)
        assert "keeps no pages for now" in full


async def test_a_wrong_password_is_told_of_and_none_is_shown(caplog: pytest.LogCaptureFixture) -> None:
    async with RedisServer("--requirepass", "right-word") as server:
        address = parse_cache_address(f"redis://:wrong-word@127.0.0.1:{server.port}/0")
        async with CacheLink(address, options=replace(PATIENT, first_pause_seconds=60.0)) as link:
            assert await cache_of(link).claim(KEY) is None
        right = parse_cache_address(f"redis://:right-word@127.0.0.1:{server.port}/0")
        async with CacheLink(right, options=PATIENT) as link:
            await put(link)
            assert await cache_of(link).claim(KEY) is not None
    (told,) = warnings(caplog)
    assert "wrong-word" not in f"{told} {address!r} {address}"
    assert "cannot be used" in told


@pytest.mark.parametrize(
    "url",
    [
        "http://a",
        "redis://",
        "redis://h/x",
        "redis://:word@h:99999/0",
        "redis://h/?db=word",
        "rediss://h/?db=word",
        "redis://h/?ssl_ca_certs=word",
    ],
)
def test_an_address_that_is_none_is_refused_and_not_quoted(url: str) -> None:
    with pytest.raises(ValueError, match=r"^(it is no address|after the question mark)") as refused:
        parse_cache_address(url)
    assert "word" not in str(refused.value)


async def test_two_workers_ask_the_site_for_each_page_once(redis: RedisServer) -> None:
    async def page(_: web.Request) -> web.StreamResponse:
        return web.Response(text="<p>text</p>", content_type="text/html", headers={"Cache-Control": "max-age=600"})

    paths = [f"/{number}" for number in range(8)]
    async with Website(dict.fromkeys(paths, page)) as site:
        gate = site.shut("/0")
        command = [sys.executable, "-m", "tests.browser.shared_cache_worker", redis.url, site.url, *paths]
        pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
        workers = [await asyncio.create_subprocess_exec(*command, cwd=ROOT, **pipes) for _ in range(2)]
        for worker in workers:
            assert worker.stdout is not None
            assert await worker.stdout.readline() == b"ready\n"
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write(b"go\n")
        await site.arrived("/0")
        gate.set()
        said = [(await worker.communicate())[0].decode() for worker in workers]
    assert said == [f"read {len(paths)} pages\n"] * 2
    assert {path: site.count(path) for path in paths} == dict.fromkeys(paths, 1)
