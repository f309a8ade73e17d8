"""Pages opened over several endpoints: whatever happens under way, the counts stay right and the next one is tried."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
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
        self.made = 0

    async def start(self) -> None:
        if self.errors:
            raise self.errors.pop(0)

    async def new_context(self, _: Identity, *, headers: Mapping[str, str]) -> object:
        self.asked.set()
        await self.gate.wait()
        await self.start()
        self.made += 1
        return object()

    def leave(self, _: object) -> None:
        self.made -= 1

    async def aclose(self) -> None:
        pass


class Opened:
    """A fleet over fakes."""

    def __init__(self) -> None:
        self.processes: list[FakeProcess] = []
        self.roster = Roster(ENDPOINTS, knock=lambda _: asyncio.Event().wait())
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
    assert down.value.reasons == {"ws://a:1": "connect ECONNREFUSED", "ws://b:1": "it died again"}
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
