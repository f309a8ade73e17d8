"""What a pool leases, keeps ready, replaces and counts, in real browsers."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from browser.engine.launch import LaunchOptions
from browser.engine.recycling import RecyclingLimits
from browser.errors import PoolClosed
from browser.page import LoadOptions
from browser.pool import BrowserPool, PoolOptions, Slot
from browser.session.identity import Identity
from speccache.errors import Unspeculable
from tests.browser.cancellation import cancelled_everywhere
from tests.browser.pages import Site
from tests.browser.waiting import gone, nothing_leased, until
from tests.processes import browsers

LOAD = LoadOptions()
RUNNING = ("foreground", "spare", "leased", "idle", "warming", "loading", "browsers")


@pytest.fixture(scope="module")
async def pool() -> AsyncIterator[BrowserPool]:
    async with BrowserPool(PoolOptions(speculation_slots=2, foreground_slots=10)) as opened:
        opened.egress.rule.allow({"127.0.0.1"})
        yield opened


async def test_case_39_ten_first_calls_start_one_browser() -> None:
    before = browsers()
    async with BrowserPool(PoolOptions(speculation_slots=2, foreground_slots=10)) as pool:

        async def guess() -> None:
            async with pool.speculation("me"):
                pass

        async with asyncio.TaskGroup() as group:
            live = [group.create_task(pool.foreground()) for _ in range(10)]
            for _ in range(10):
                group.create_task(guess())
        assert len({task.result().context for task in live}) == 10
        now = pool.statistics()
        assert (now.launches, now.driver_starts, len(browsers() - before)) == (2, 1, 2)
        assert (now.foreground, now.idle) == (10, 2)
    now = pool.statistics()
    assert [getattr(now, name) for name in RUNNING] == [0] * len(RUNNING)
    assert set(now.waiting.values()) == {0}
    assert "foreground=0 leased=0 idle=0" in repr(pool)
    assert browsers() == before
    with pytest.raises(PoolClosed):
        await pool.foreground()


async def test_the_first_load_finds_a_page_ready_and_the_next_session_too(pool: BrowserPool, site: Site) -> None:
    site.put("/", "<p>home</p>")
    await until(pool, lambda now: now.spare == 1)
    slot = await pool.foreground()
    assert pool.statistics().spare == 0
    document = await pool.load(slot, site.url("/"), options=LOAD)
    assert "home" in document.markdown
    await until(pool, lambda now: now.spare == 1)
    await asyncio.wait([asyncio.create_task(pool.discard(slot)), asyncio.create_task(pool.discard(slot))])
    await nothing_leased(pool)


async def test_what_waits_for_its_host_is_told(pool: BrowserPool, site: Site) -> None:
    site.put("/busy", "busy", status=429, headers={"Retry-After": "0"})
    slot = await pool.foreground()
    document = await pool.load(slot, site.url("/busy"), options=LOAD)
    assert "asked again" in document.notes[-1]
    assert site.log.count("/busy") == 2
    assert pool.courtesy.refusal(site.url("/")) == "retry-after"
    assert pool.statistics().repeated_loads == 1
    await pool.discard(slot)


async def test_another_owners_slot_is_not_reused(pool: BrowserPool) -> None:
    async with pool.speculation("one") as first:
        pass
    async with pool.speculation("one") as again, pool.speculation("two") as second:
        assert again is first
        assert second is not first
    async with pool.speculation("three") as third:
        assert third not in (first, second)
    for owner in ("one", "two", "three"):
        await pool.forget(owner)
    await nothing_leased(pool)


async def test_slots_are_warmed_up_to_the_number_there_may_be(pool: BrowserPool) -> None:
    pool.warm()
    pool.warm()
    await until(pool, lambda now: now.idle == 2)
    pool.resize(speculation_slots=3)
    pool.warm()
    await until(pool, lambda now: now.idle == 3)
    pool.resize(speculation_slots=2)
    await until(pool, lambda now: now.idle == 2)
    await nothing_leased(pool)


async def test_cancelled_at_any_await_nothing_is_left_foreground(pool: BrowserPool, site: Site) -> None:
    async def work() -> None:
        slot = await pool.foreground(cookies=[{"name": "a", "value": "b", "url": site.url("/")}])
        await pool.discard(slot)

    waits = [number async for number in cancelled_everywhere(work)]
    assert len(waits) >= 3
    await nothing_leased(pool)


async def test_cancelled_at_any_await_nothing_is_left_replacing(pool: BrowserPool) -> None:
    dead: list[Slot] = []

    async def work() -> None:
        dead.append(await pool.replace(dead.pop()))

    dead.append(await pool.foreground())
    async for _ in cancelled_everywhere(work):
        while dead:
            await pool.discard(dead.pop())
        dead.append(await pool.foreground())
    await pool.discard(dead.pop())
    assert pool.statistics().replaced > 0
    await nothing_leased(pool)


async def test_cancelled_at_any_await_nothing_is_left_ahead(pool: BrowserPool, site: Site) -> None:
    async def work() -> None:
        async with pool.speculation("cancelled", cookies=[{"name": "a", "value": "b", "url": site.url("/")}]):
            pass

    async for number in cancelled_everywhere(work):
        if number % 2:  # with an idle slot, and without
            await pool.forget("cancelled")
    await pool.forget("cancelled")
    await nothing_leased(pool)


async def test_a_slot_that_is_being_closed_is_given_to_nobody(pool: BrowserPool) -> None:
    async with pool.speculation("me") as slot:
        pass
    fitting = asyncio.create_task(pool._pair.fit(slot, Identity(locale="de-DE"), ahead=True))
    await asyncio.sleep(0)
    fitting.cancel()
    async with pool.speculation("me") as other:
        assert other is not slot
    await asyncio.wait([fitting])
    await pool.forget("me")
    await nothing_leased(pool)


async def test_cancelled_while_waiting_for_its_turn_it_leaves_nothing() -> None:
    async with BrowserPool(PoolOptions(speculation_slots=1, foreground_slots=1)) as pool:
        slot = await pool.foreground()
        waiters = [asyncio.create_task(pool.foreground()) for _ in range(3)]
        async with pool.speculation("me"):
            guess = asyncio.create_task(pool.speculation("you").__aenter__())
            await until(pool, lambda now: sum(now.waiting.values()) == 4)
            guess.cancel()
            waiters[0].cancel()
            await asyncio.wait([guess, waiters[0]])
        await pool.discard(slot)
        await pool.discard(await waiters[1])
        await pool.discard(await waiters[2])
        await nothing_leased(pool)
        waiting = pool.statistics().queue_seconds
        assert waiting > 0


async def test_what_has_served_its_time_is_replaced_and_no_session_cut_off(site: Site) -> None:
    site.put("/", "<p>home</p>")
    limits = RecyclingLimits(slot_loads=2, browser_loads=4)
    async with BrowserPool(PoolOptions(speculation_slots=1, recycling=limits)) as pool:
        pool.egress.rule.allow({"127.0.0.1"})
        session = await pool.foreground()
        ahead = []
        for _ in range(4):
            async with pool.speculation("me") as slot:
                slot.guard.arm(site.url("/"))
                assert (await pool.load(slot, site.url("/"), options=LOAD)).status == 200
                ahead.append(slot)
        assert ahead[0] is ahead[1] is not ahead[2] is ahead[3]
        for _ in range(6):
            assert (await pool.load(session, site.url("/"), options=LOAD)).status == 200
        now = await until(pool, lambda now: now.browsers == 2 and now.spare == 1)
        assert (now.recycled_slots, now.recycled_browsers) == (2, 2)
        assert session.alive, "the session goes on in the browser that takes no more"
        other = await pool.foreground()
        assert other.home is not session.home
        await pool.discard(session)
        await until(pool, lambda now: now.browsers == 1)
        await gone([session.home.main])
        assert other.alive
        await pool.discard(other)


async def test_where_memory_is_short_one_question_is_still_served() -> None:
    async with BrowserPool(PoolOptions(speculation_slots=2, max_memory_mib=1)) as pool:
        slot = await pool.foreground()
        pool.warm()
        assert pool.statistics().warming == 0
        with pytest.raises(Unspeculable, match="memory"):
            await pool.speculation("me").__aenter__()
        second = asyncio.create_task(pool.foreground())
        await until(pool, lambda now: sum(now.waiting.values()) == 1 and now.memory_bytes > 2**20)
        await pool.discard(slot)
        await pool.discard(await second)
        assert await pool.measure() > 2**20


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_all_temporary_files_are_in_one_folder_that_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    async with BrowserPool(PoolOptions(speculation_slots=0)) as pool:
        await pool.discard(await pool.foreground())
        folder, lock = names(tmp_path)
        assert lock == f"{folder}.lock"
        assert any("playwright" in name for name in names(tmp_path / folder))
    assert names(tmp_path) == []


async def test_a_pool_that_cannot_open_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    options = PoolOptions(launch=LaunchOptions(executable=Path("/bin/false")))
    with pytest.raises(Exception, match="does not start"):
        await BrowserPool(replace(options)).__aenter__()
    assert names(tmp_path) == []
