"""Reads that are begun before they are called: one run, one answer, and an account that says what it gained."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from speccache import Event, EventKind, SpeculativeTools, ToolCall, ToolEnvironment
from speccache.expected_calls import ExpectedCalls
from tests.speccache.progress import until
from tests.speccache.shop import Shop


@pytest.fixture
async def tools(shop: Shop, events: list[Event]) -> AsyncIterator[SpeculativeTools]:
    reads = {"get_user": shop.get_user, "get_order": shop.get_order}
    writes = {"cancel": shop.cancel}
    async with SpeculativeTools(reads, writes=writes, predict=lambda _: (), listener=events.append) as made:
        yield made
    assert not +shop.running


def order(number: int) -> ToolCall:
    return ToolCall("get_order", {"order": number})


async def test_an_expected_call_is_a_hit_before_any_other_call(
    shop: Shop, events: list[Event], tools: SpeculativeTools
) -> None:
    assert tools.expect("get_order", 70)
    await until(events, EventKind.LOAD)
    assert (await tools.get_order(order=70))["order"] == 70
    assert shop.runs == ["order 70"]
    assert (tools.account.hits, tools.account.misses, tools.account.wasted) == (1, 0, 0)
    assert [step.action for step in tools.trajectory] == [order(70)]
    await tools.get_order(order=70)
    assert (tools.account.hits, tools.account.misses) == (1, 1), "it has served its call"


async def test_one_that_still_runs_is_joined(shop: Shop, tools: SpeculativeTools) -> None:
    gate = shop.shut("order 70")
    tools.expect("get_order", 70)
    assert tools.expect("get_order", order=70), "it runs already"
    call = asyncio.create_task(tools.get_order(70))
    await shop.until_running("order 70")
    gate.set()
    assert (await call)["order"] == 70
    assert (shop.runs, tools.account.joins) == (["order 70"], 1)
    assert tools.account.hidden_seconds > 0


async def test_it_is_nobodys_guess(events: list[Event], tools: SpeculativeTools) -> None:
    await tools.get_user(7)
    tools.expect("get_order", 70)
    await until(events, EventKind.LOAD)
    await tools.get_order(70)
    assert (tools.account.hits, tools.account.hits_within(1)) == (1, 0)


async def test_it_is_not_begun_for_a_state_that_has_passed(shop: Shop, events: list[Event]) -> None:
    who = ["ann"]

    async def orders() -> str:
        return f"orders of {who[0]}"

    reads, state = {"orders": orders, "get_order": shop.get_order}, lambda: who[0]
    async with SpeculativeTools(reads, state=state, predict=lambda _: (), listener=events.append) as tools:
        tools.expect("orders")
        who[0] = "bob"
        await until(events, EventKind.REFUSE)
        who[0] = "ann"
        assert await tools.orders() == "orders of ann"
        assert (tools.account.hits, tools.account.refusals) == (0, {"moved-on": 1})


async def test_what_may_not_run_ahead_is_not_begun(shop: Shop, tools: SpeculativeTools) -> None:
    assert not tools.expect("cancel", 70)
    assert not tools.expect("get_usr")
    assert not tools.expect("get_order", colour="red")
    assert not tools.expect("get_order", {70})
    assert (shop.runs, tools.account.speculated) == ([], 0)


async def test_a_write_outdates_it(shop: Shop, events: list[Event], tools: SpeculativeTools) -> None:
    gate = shop.shut("order 71")
    tools.expect("get_order", 70)
    tools.expect("get_order", 71)
    await until(events, EventKind.LOAD)
    await tools.cancel(70)
    gate.set()
    await until(events, EventKind.REFUSE)
    assert (await tools.get_order(70))["cancelled"] is True
    assert tools.account.refusals == {"changed": 1}


async def test_one_that_fails_is_counted_and_the_call_fails_by_itself(
    shop: Shop, events: list[Event], tools: SpeculativeTools
) -> None:
    shop.broken["order 70"] = OSError("no line")
    tools.expect("get_order", 70)
    await until(events, EventKind.FAIL)
    assert tools.account.failures == {"OSError: no line": 1}
    with pytest.raises(OSError, match="no line"):
        await tools.get_order(70)
    assert shop.runs == ["order 70"] * 2


async def test_a_guess_of_what_is_expected_is_no_second_run(shop: Shop, events: list[Event]) -> None:
    gate, reads = shop.shut("order 70"), {"get_user": shop.get_user, "get_order": shop.get_order}
    async with SpeculativeTools(reads, predict=lambda _: [order(70)], listener=events.append) as tools:
        tools.expect("get_order", 70)
        await tools.get_user(7)
        await until(events, EventKind.REFUSE)
        assert tools.account.refusals == {"expected": 1}
        gate.set()
        await tools.get_order(70)
        assert tools.account.hits + tools.account.joins == 1
        await until(events, EventKind.LOAD, 2)
        assert tools.expect("get_order", 70), "it was guessed, and is there"
        assert shop.runs.count("order 70") == 2


async def test_a_cancelled_call_cancels_what_it_waited_for(shop: Shop, tools: SpeculativeTools) -> None:
    shop.shut("order 70")
    tools.expect("get_order", 70)
    await shop.until_running("order 70")
    call = asyncio.create_task(tools.get_order(70))
    await asyncio.sleep(0)
    call.cancel()
    await asyncio.wait([call])
    assert call.cancelled()
    while shop.running["order 70"]:
        await asyncio.sleep(0)


async def test_leaving_ends_what_was_never_called(shop: Shop, events: list[Event]) -> None:
    shop.shut("order 70")
    async with SpeculativeTools({"get_order": shop.get_order}, listener=events.append) as tools:
        tools.expect("get_order", 70)
        await shop.until_running("order 70")
    assert not +shop.running
    assert [event.kind for event in events] == [EventKind.LAUNCH, EventKind.CANCEL]
    assert not tools.expect("get_order", 71), "it is closed"


async def test_what_is_too_old_or_too_much_is_dropped(shop: Shop, events: list[Event]) -> None:
    now, environment = [0.0], ToolEnvironment({"get_order": shop.get_order})
    expected = ExpectedCalls(
        environment, max_age_seconds=5.0, listener=events.append, close_seconds=1.0, clock=lambda: now[0]
    )
    expected.begin(order(1))
    await until(events, EventKind.LOAD)
    now[0] = 4.0
    found = await expected.get(environment.key(order(1)))
    assert found is not None
    assert (found.remaining_seconds, found.value.value["order"], found.origin) == (1.0, 1, "expected")
    expected.begin(order(2))
    await until(events, EventKind.LOAD, 2)
    now[0] = 9.0
    assert await expected.get(environment.key(order(2))) is None
    gate = shop.shut("order 3")
    expected.begin(order(3))
    await shop.until_running("order 3")
    begun = [expected.begin(order(number)) for number in range(4, 200)]
    assert (begun.count(True), begun.index(False)) == (63, 63), "those begun first are called first"
    gate.set()
    await until(events, EventKind.LOAD, 66)
    now[0] = 14.0
    expected.begin(order(300))
    assert repr(expected) == "<ExpectedCalls 1>"
    await expected.aclose()
    await expected.aclose()
    assert not +shop.running
