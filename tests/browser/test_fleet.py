"""Pages opened over several endpoints: whatever happens under way, the counts stay right and the next one is tried."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from browser.engine.process import BrowserProcess
from browser.errors import EndpointFailed, EndpointsDown, LaunchFailed, SlotCrashed
from browser.remote.endpoint import Endpoint, parse_browsers
from browser.remote.fleet import Fleet
from browser.remote.roster import Roster
from browser.session.identity import Identity

ENDPOINTS = parse_browsers(["ws://a:1", "ws://b:1"]).endpoints


class FakeProcess:
    """Does what it is told to when it is asked for a context or for a connection."""

    def __init__(self) -> None:
        self.errors: list[Exception] = []
        self.asked = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()
        self.close_gate = asyncio.Event()
        self.close_gate.set()
        self.made = 0

    async def start(self) -> None:
        self.asked.set()
        await self.gate.wait()
        if self.errors:
            raise self.errors.pop(0)

    async def new_context(self, _: Identity, *, headers: Mapping[str, str]) -> object:
        await self.start()
        self.made += 1
        return object()

    def leave(self, _: object) -> None:
        self.made -= 1

    async def aclose(self) -> None:
        self.asked.set()
        await self.close_gate.wait()


class Opened:
    """A fleet over fakes."""

    def __init__(self, endpoints: Sequence[Endpoint] = ENDPOINTS) -> None:
        self.processes: list[FakeProcess] = []
        self.roster = Roster(endpoints, knock=lambda _: asyncio.Event().wait())
        self.fleet = Fleet(self.roster, process=self._process)

    def _process(self, _: Endpoint) -> BrowserProcess:
        self.processes.append(FakeProcess())
        return cast(BrowserProcess, self.processes[-1])

    async def context(self) -> Any:
        return await self.fleet.new_context(Identity(), headers={})

    @property
    def counts(self) -> list[int]:
        return [post.foreground for post in self.roster.posts]


def refused(endpoint: str) -> EndpointFailed:
    return EndpointFailed(endpoint=endpoint, reason="connect ECONNREFUSED")


async def test_a_cancelled_opening_leaves_no_count() -> None:
    opened = Opened()
    opened.processes[0].gate.clear()
    opening = asyncio.create_task(opened.context())
    await opened.processes[0].asked.wait()
    assert opened.counts == [1, 0]
    opening.cancel()
    await asyncio.wait([opening])
    assert opened.counts == [0, 0]


async def test_a_crash_is_tried_again_there_and_a_refusal_elsewhere() -> None:
    opened = Opened()
    opened.processes[0].errors = [SlotCrashed("it died")]
    context = await opened.context()
    assert opened.counts == [1, 0]
    opened.processes[1].errors = [SlotCrashed("it died"), refused("ws://b:1")]
    other = await opened.context()
    assert opened.counts == [2, 0]
    assert [post.failure is not None for post in opened.roster.posts] == [False, True]
    for gone in (context, other, other):
        opened.fleet.leave(gone)
    assert (opened.counts, opened.processes[0].made) == ([0, 0], 0)
    await opened.fleet.aclose()


async def test_without_any_the_reasons_are_told_and_the_next_real_action_tries_again() -> None:
    opened = Opened()
    opened.processes[0].errors = [refused("ws://a:1")]
    opened.processes[1].errors = [SlotCrashed("it died"), SlotCrashed("it died again")]
    with pytest.raises(EndpointsDown) as down:
        await opened.context()
    assert [failure.reason for failure in down.value.failures] == ["connect ECONNREFUSED", "it died again"]
    await opened.context()
    assert opened.counts == [1, 0]
    await opened.fleet.aclose()


async def test_where_the_last_that_works_fails_a_real_action_tries_those_that_failed_before() -> None:
    opened = Opened()
    opened.roster.failed(opened.roster.posts[1], refused("ws://b:1"))
    opened.processes[0].errors = [refused("ws://a:1")]
    await opened.context()
    assert opened.counts == [0, 1]
    assert [post.failure is None for post in opened.roster.posts] == [False, True]
    await opened.fleet.aclose()


async def test_a_driver_that_does_not_start_is_no_endpoints_fault() -> None:
    opened = Opened()
    opened.processes[0].errors = [LaunchFailed("Playwright's driver does not start")]
    with pytest.raises(LaunchFailed, match="driver"):
        await opened.fleet.start()
    assert opened.roster.failures == []


async def test_one_that_is_there_is_enough_and_one_that_comes_late_joins() -> None:
    opened = Opened()
    first = opened.processes[0]
    first.gate.clear()
    await opened.fleet.start()
    for _ in range(3):
        await opened.context()
    assert opened.counts == [0, 3], "the other is waited for by nobody"
    first.gate.set()
    while opened.roster.posts[0].expected:
        await asyncio.sleep(0)
    await opened.context()
    assert opened.counts == [1, 3]
    assert opened.roster.failures == []
    await opened.fleet.aclose()


async def test_one_that_fails_late_is_told_and_gets_no_page(caplog: pytest.LogCaptureFixture) -> None:
    opened = Opened()
    opened.processes[0].gate.clear()
    opened.processes[0].errors = [refused("ws://a:1")]
    await opened.fleet.start()
    assert caplog.text == ""
    opened.processes[0].gate.set()
    while opened.roster.posts[0].expected:
        await asyncio.sleep(0)
    await opened.context()
    assert opened.counts == [0, 1]
    assert "The browser at ws://a:1 cannot be used: connect ECONNREFUSED" in caplog.text
    await opened.fleet.aclose()


async def test_one_that_is_still_expected_is_waited_for_where_there_is_no_other() -> None:
    opened = Opened()
    first, second = opened.processes
    first.gate.clear()
    await opened.fleet.start()
    second.errors = [refused("ws://b:1")]
    opening = asyncio.create_task(opened.context())
    while opened.counts != [1, 0]:
        await asyncio.sleep(0)
    first.gate.set()
    await opening
    await opened.fleet.aclose()


async def test_two_that_show_the_same_name_are_told_apart() -> None:
    opened = Opened(parse_browsers(["ws://a:1/?one", "ws://a:1/?two"]).endpoints)
    for process, reason in zip(opened.processes, ("no such token", "too many clients"), strict=True):
        process.errors = [EndpointFailed(endpoint="ws://a:1", reason=reason)]
    with pytest.raises(EndpointsDown, match=r"ws://a:1: no such token; ws://a:1: too many clients"):
        await opened.fleet.start()
    assert opened.roster.failures == [], "nobody tries them again"


async def test_all_are_left_at_once_and_none_is_waited_for_to_come() -> None:
    opened = Opened()
    opened.processes[0].gate.clear()
    await opened.fleet.start()
    for process in opened.processes:
        process.asked.clear()
        process.close_gate.clear()
    closing = asyncio.create_task(opened.fleet.aclose())
    for process in opened.processes:
        await process.asked.wait()
    for process in opened.processes:
        process.close_gate.set()
    await closing
    assert all(task.done() for task in opened.fleet._reaching)
