"""Functions with speculation between their calls: the same results in the same order, only sooner."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from speccache import CallPatterns, Event, EventKind, InvalidCall, SpeculationOptions, SpeculativeTools, Step, ToolCall
from speccache.tools import Calls, ToolOptions
from tests.speccache.progress import until
from tests.speccache.shop import Shop

Tools = Callable[..., SpeculativeTools]


@pytest.fixture
async def speculative(shop: Shop, events: list[Event]) -> AsyncIterator[Tools]:
    made: list[SpeculativeTools] = []

    def make(*guesses: ToolCall, **options: Any) -> SpeculativeTools:
        tools = over(shop, predict=lambda _: guesses, listener=events.append, **options)
        made.append(tools)
        return tools

    yield make
    for tools in made:
        await tools.aclose()
        assert "running=0 waiters=0" in repr(tools)
        assert "running=0 queued=0" in repr(tools)
    assert not +shop.running


def over(shop: Shop, **options: Any) -> SpeculativeTools:
    reads = {"get_user": shop.get_user, "get_order": shop.get_order}
    return SpeculativeTools(reads, writes={"cancel": shop.cancel}, **options)


def order(number: int) -> ToolCall:
    return ToolCall("get_order", {"order": number})


async def test_a_predicted_call_is_a_hit(shop: Shop, events: list[Event], speculative: Tools) -> None:
    tools = speculative(order(70))
    user = await tools.get_user(7)
    await until(events, EventKind.LOAD)
    assert await tools.get_order(order=user["orders"][0]) == {"order": 70, "cancelled": False}
    assert shop.runs == ["user 7", "order 70"]
    assert (tools.account.hits, tools.account.joins, tools.account.misses) == (1, 0, 1)


async def test_a_running_call_is_joined(shop: Shop, speculative: Tools) -> None:
    gate = shop.shut("order 70")
    tools = speculative(order(70))
    await tools.get_user(7)
    await shop.until_running("order 70")
    call = asyncio.create_task(tools.get_order(70))
    await asyncio.sleep(0)
    gate.set()
    assert (await call)["order"] == 70
    assert shop.runs == ["user 7", "order 70"]
    assert tools.account.joins == 1


async def test_positions_names_and_defaults_make_one_call(events: list[Event], speculative: Tools) -> None:
    tools = speculative(ToolCall("get_user", {"detail": "short", "id": 8}))
    await tools.get_user(7)
    await until(events, EventKind.LOAD)
    assert (await tools.call("get_user", id=8))["id"] == 8
    assert tools.account.hits == 1


async def test_a_write_is_never_run_ahead(shop: Shop, events: list[Event], speculative: Tools) -> None:
    tools = speculative(ToolCall("cancel", {"order": 70}))
    await tools.get_user(7)
    await until(events, EventKind.PREDICT)
    assert shop.runs == ["user 7"]
    assert tools.account.refusals["no-key"] == 1


async def test_a_write_outdates_what_was_run_ahead(shop: Shop, events: list[Event], speculative: Tools) -> None:
    tools = speculative(order(70))
    await tools.get_user(7)
    await until(events, EventKind.LOAD)
    assert await tools.cancel(70) == "70 is cancelled"
    assert await tools.get_order(70) == {"order": 70, "cancelled": True}


async def test_a_write_outdates_what_is_still_running(shop: Shop, events: list[Event], speculative: Tools) -> None:
    gate = shop.shut("order 70")
    tools = speculative(order(70))
    await tools.get_user(7)
    await shop.until_running("order 70")
    await tools.cancel(70)
    gate.set()
    await until(events, EventKind.REFUSE)
    assert (await tools.get_order(70))["cancelled"] is True


async def test_nothing_runs_ahead_during_a_write(shop: Shop, events: list[Event], speculative: Tools) -> None:
    gate = shop.shut("cancel 70")
    tools = speculative(order(71))
    write = asyncio.create_task(tools.cancel(70))
    await shop.until_running("cancel 70")
    assert (await tools.get_order(70))["cancelled"] is False
    await until(events, EventKind.PREDICT)
    assert "order 71" not in shop.runs
    gate.set()
    await write


async def test_a_changed_state_outdates(shop: Shop, events: list[Event], speculative: Tools) -> None:
    login = ["ann"]
    tools = speculative(order(70), state=lambda: login[0])
    await tools.get_user(7)
    await until(events, EventKind.LOAD)
    login[0] = "bob"
    await tools.get_order(70)
    assert shop.runs.count("order 70") == 2


async def test_a_result_serves_one_call(shop: Shop, events: list[Event], speculative: Tools) -> None:
    tools = speculative()
    for _ in range(2):
        await tools.get_user(7)
    assert shop.runs == ["user 7", "user 7"]
    assert tools.account.misses == 2


async def test_a_conversation_that_never_ends_keeps_its_latest_calls(shop: Shop) -> None:
    async with over(shop, predict=lambda _: (), options=ToolOptions(max_steps=2)) as tools:
        for number in range(3):
            await tools.get_user(number)
        assert [step.action.arguments["id"] for step in tools.trajectory] == [1, 2]
        assert "entries=0/" in repr(tools), "what was called has served its call"


async def test_a_failing_guess_is_counted_and_the_call_fails_by_itself(
    shop: Shop, events: list[Event], speculative: Tools
) -> None:
    shop.broken["order 70"] = OSError("no line")
    tools = speculative(order(70))
    await tools.get_user(7)
    await until(events, EventKind.FAIL)
    assert tools.account.failures == {"OSError: no line": 1}
    with pytest.raises(OSError, match="no line"):
        await tools.get_order(70)
    assert [str(step.action) for step in tools.trajectory] == ["get_user(id=7)"]


async def test_a_joined_guess_that_fails_is_run_again(shop: Shop, speculative: Tools) -> None:
    shop.broken["order 70"] = OSError("no line")
    gate = shop.shut("order 70")
    tools = speculative(order(70))
    await tools.get_user(7)
    await shop.until_running("order 70")
    call = asyncio.create_task(tools.get_order(70))
    await asyncio.sleep(0)
    gate.set()
    await shop.until_run("order 70")
    with pytest.raises(OSError, match="no line"):
        await call
    assert shop.runs.count("order 70") == 2


async def test_a_predictor_that_fails_is_counted(shop: Shop) -> None:
    def predict(_: Calls) -> Iterable[ToolCall]:
        raise LookupError("lost")

    events: list[Event] = []
    async with over(shop, predict=predict, listener=events.append) as tools:
        await tools.get_user(7)
        await until(events, EventKind.PREDICT)
        assert tools.account.failures == {"LookupError: lost": 1}


async def test_an_asynchronous_predictor_is_closed_with_its_turn(shop: Shop) -> None:
    asked, closed = asyncio.Event(), asyncio.Event()

    async def predict(calls: Calls) -> AsyncIterator[ToolCall]:
        try:
            yield order(calls[-1].observation["orders"][0])
            asked.set()
            await asyncio.Event().wait()
        finally:
            closed.set()

    async with over(shop, predict=predict) as tools:
        await tools.get_user(7)
        await asked.wait()
        await shop.until_run("order 70")
    assert closed.is_set()


async def test_a_caller_may_change_what_it_got(events: list[Event], speculative: Tools) -> None:
    tools = speculative(order(70))
    (await tools.get_user(7))["orders"].clear()
    assert tools.trajectory[0].observation["orders"] == [70, 71, 72]


class Stuck(dict[str, int]):
    """What cannot be copied, nor looked into."""

    def items(self) -> Any:
        raise OSError("stuck")

    def __deepcopy__(self, _: object) -> Any:
        raise OSError("stuck")


async def test_what_cannot_be_copied_reaches_its_caller_and_is_not_kept_ahead(events: list[Event]) -> None:
    results: list[Stuck] = []

    async def get(number: int) -> Stuck:
        results.append(Stuck(number=number))
        return results[-1]

    async with SpeculativeTools({"get": get}, listener=events.append) as tools:
        assert await tools.get(1) is results[0]
        assert await tools.get(2) is results[1]
        await until(events, EventKind.REFUSE)
        assert await tools.get(3) is results[-1]
        assert [result["number"] for result in results] == [1, 2, 3, 3]
        assert (tools.account.refusals["no-copy"], tools.account.failures) == (1, {})


async def test_a_joined_guess_that_cannot_be_copied_is_run_again(shop: Shop) -> None:
    gate, copies = shop.shut("order 70"), list[Any]()

    def copied(value: Any) -> Any:
        copies.append(value)
        raise RuntimeError("no copies")

    async with over(shop, predict=lambda _: [order(70)], copied=copied) as tools:
        await tools.get_user(7)
        await shop.until_running("order 70")
        calls = [asyncio.create_task(tools.get_order(70)) for _ in range(2)]
        await asyncio.sleep(0)
        gate.set()
        first, second = [await call for call in calls]
        assert first == second
        assert first is not second
        assert shop.runs.count("order 70") == 3


async def test_options_of_tools_have_their_own_age_limit(shop: Shop) -> None:
    assert ToolOptions(max_guesses=5).max_age_seconds == 30.0
    assert ToolOptions(max_age_seconds=300.0).max_age_seconds == 300.0
    with pytest.raises(TypeError, match="give ToolOptions"):
        over(shop, options=SpeculationOptions(max_guesses=5))


async def test_a_result_that_is_larger_than_all_may_be_is_not_kept(shop: Shop, events: list[Event]) -> None:
    async def text(length: int) -> str:
        return "x" * length

    guesses = [ToolCall("text", {"length": length}) for length in (10, 10_000)]
    options = ToolOptions(max_bytes=1_000)
    async with SpeculativeTools(
        {"text": text}, predict=lambda _: guesses, options=options, listener=events.append
    ) as tools:
        await tools.text(1)
        await until(events, EventKind.REFUSE)
        assert tools.account.refusals == {"not-kept": 1}
        assert "entries=1/" in repr(tools)


@pytest.mark.parametrize("kind", ["list", "generator"])
async def test_guesses_become_the_calls_that_their_tools_would_be_given(
    shop: Shop, events: list[Event], kind: str
) -> None:
    def as_called(guess: ToolCall) -> ToolCall:
        number = guess.arguments["order"]
        if not str(number).isdecimal():
            raise InvalidCall("no number")
        return order(int(number))

    guesses = [ToolCall("get_order", {"order": number}) for number in ("70", "seventy")]

    async def generated(_: Calls) -> AsyncIterator[ToolCall]:
        for guess in guesses:
            yield guess

    predict = (lambda _: guesses) if kind == "list" else generated
    async with over(shop, predict=predict, as_called=as_called, listener=events.append) as tools:
        await tools.get_user(7)
        await until(events, EventKind.LOAD)
        await tools.get_order(70)
        assert tools.account.hits == 1
        assert tools.account.refusals["invalid"] >= 1
        assert "order seventy" not in shop.runs


async def test_a_shared_memory_learns_the_last_call_of_a_block_too(shop: Shop) -> None:
    patterns = CallPatterns()
    async with over(shop, predict=patterns) as tools:
        user = await tools.get_user(7)
        await tools.get_order(user["orders"][0])
    user_again = Step(ToolCall("get_user", {"id": 8}), await shop.get_user(8))
    assert [str(call) for call in patterns([user_again])] == ["get_order(order=80)"]


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("get_usr", {}, "there is no tool 'get_usr', only cancel, get_order, get_user"),
        ("get_user", {}, "get_user: missing a required argument: 'id'"),
        ("get_user", {"id": 1, "colour": "red"}, "get_user: got an unexpected keyword argument 'colour'"),
    ],
)
async def test_a_call_that_cannot_be_is_refused(
    shop: Shop, speculative: Tools, name: str, arguments: dict[str, Any], says: str
) -> None:
    with pytest.raises(InvalidCall) as refused:
        await speculative().call(name, **arguments)
    assert str(refused.value) == says
    assert shop.runs == []


async def test_a_guess_that_cannot_be_is_refused(shop: Shop, events: list[Event], speculative: Tools) -> None:
    tools = speculative(
        ToolCall("get_usr"), ToolCall("get_user", {"colour": "red"}), ToolCall("get_order", {"order": {1}})
    )
    await tools.get_user(7)
    await until(events, EventKind.PREDICT)
    assert tools.account.refusals == {"no-key": 3}


async def test_arguments_that_json_writes_alike_are_told_apart(events: list[Event]) -> None:
    async def kind(value: object) -> str:
        return type(value).__name__

    guesses = [ToolCall("kind", {"value": value}) for value in ([1], 1)]
    async with SpeculativeTools({"kind": kind}, predict=lambda _: guesses, listener=events.append) as tools:
        await tools.kind(None)
        await until(events, EventKind.LOAD, 2)
        assert [await tools.kind(value) for value in ((1,), True, 1.0)] == ["tuple", "bool", "float"]


async def test_unknown_names_are_no_attributes(speculative: Tools) -> None:
    with pytest.raises(AttributeError, match="get_usr"):
        speculative().get_usr  # noqa: B018


async def test_a_name_is_a_read_or_a_write(shop: Shop) -> None:
    with pytest.raises(ValueError, match="'cancel' is named as a read and as a write"):
        SpeculativeTools({"cancel": shop.cancel}, writes={"cancel": shop.cancel})


async def test_an_argument_needs_a_name() -> None:
    async def total(*numbers: int) -> int:
        return sum(numbers)

    async with SpeculativeTools({"total": total}) as tools:
        with pytest.raises(InvalidCall, match="'numbers' cannot be given by name"):
            await tools.total(1, 2)


@pytest.mark.parametrize("ahead", [False, True])
async def test_a_cancelled_call_leaves_nothing_running(shop: Shop, speculative: Tools, ahead: bool) -> None:
    gate = shop.shut("order 70")
    tools = speculative(*[order(70)][: 1 if ahead else 0])
    await tools.get_user(7)
    if ahead:
        await shop.until_running("order 70")
    call = asyncio.create_task(tools.get_order(70))
    await shop.until_running("order 70")
    await asyncio.sleep(0)
    call.cancel()
    await asyncio.wait([call])
    assert call.cancelled()
    assert shop.running["order 70"] == (1 if ahead else 0)  # the guess may still serve
    gate.set()
    assert (await tools.get_order(70))["order"] == 70


async def test_a_cancelled_write_outdates_all_the_same(shop: Shop, events: list[Event], speculative: Tools) -> None:
    shop.shut("cancel 70")
    tools = speculative(order(70))
    await tools.get_user(7)
    await until(events, EventKind.LOAD)
    write = asyncio.create_task(tools.cancel(70))
    await shop.until_running("cancel 70")
    write.cancel()
    await asyncio.wait([write])
    await tools.get_order(70)
    assert shop.runs.count("order 70") == 2


async def test_leaving_ends_what_runs_ahead(shop: Shop) -> None:
    shop.shut("order 70")
    async with over(shop, predict=lambda _: [order(70)]) as tools:
        await tools.get_user(7)
        await shop.until_running("order 70")
    assert not +shop.running
    assert "running=0 waiters=0" in repr(tools)


CALLS = st.one_of(
    st.builds(ToolCall, st.just("get_user"), st.fixed_dictionaries({"id": st.integers(0, 2)})),
    st.builds(ToolCall, st.just("get_order"), st.fixed_dictionaries({"order": st.integers(0, 3)})),
    st.builds(ToolCall, st.just("cancel"), st.fixed_dictionaries({"order": st.integers(0, 3)})),
)


@given(
    calls=st.lists(st.tuples(CALLS, st.integers(0, 12)), max_size=12),
    guesses=st.lists(st.lists(CALLS, max_size=3), max_size=12),
)
def test_results_and_effects_are_those_without_speculation(
    calls: Sequence[tuple[ToolCall, int]], guesses: Sequence[Sequence[ToolCall]]
) -> None:
    async def run(*, ahead: bool) -> tuple[list[Any], list[str]]:
        shop = Shop()
        results = []

        def predict(so_far: Calls) -> Sequence[ToolCall]:
            return guesses[len(so_far) - 1] if ahead and len(so_far) <= len(guesses) else ()

        async with over(shop, predict=predict) as tools:
            for call, pauses in calls:
                results.append(await tools.call(call.name, **call.arguments))
                for _ in range(pauses):
                    await asyncio.sleep(0)
        return results, [run for run in shop.runs if run.startswith("cancel")]

    assert asyncio.run(run(ahead=True)) == asyncio.run(run(ahead=False))
