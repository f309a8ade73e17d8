"""Functions as an environment keep the law of every environment."""

from __future__ import annotations

import asyncio

import pytest

from speccache import ToolCall, ToolEnvironment, Unspeculable
from speccache.tool_environment import Result
from tests.conformance import check_law
from tests.speccache.shop import Shop


def environment(shop: Shop) -> ToolEnvironment:
    return ToolEnvironment({"get_user": shop.get_user, "get_order": shop.get_order}, writes={"cancel": shop.cancel})


def order(number: int) -> ToolCall:
    return ToolCall("get_order", {"order": number})


async def test_it_keeps_the_law() -> None:
    async def fresh() -> ToolEnvironment:
        return environment(Shop())

    then = [order(70), ToolCall("cancel", {"order": 70}), order(70), ToolCall("get_user", {"id": 7})]
    await check_law(fresh, first=order(70), then=then, same=lambda seen: seen.value)


async def test_a_write_is_never_peeked_at() -> None:
    shop = Shop()
    with pytest.raises(Unspeculable, match="no-key"):
        await environment(shop).peek(ToolCall("cancel", {"order": 70}))
    assert shop.runs == []


async def test_what_changed_while_it_ran_is_not_kept() -> None:
    shop = Shop()
    tools, gate = environment(shop), shop.shut("order 70")
    peek = asyncio.create_task(tools.peek(order(70)))
    await shop.until_running("order 70")
    await tools.step(ToolCall("cancel", {"order": 71}))
    gate.set()
    with pytest.raises(Unspeculable, match="changed"):
        await peek


async def test_a_function_cannot_change_the_arguments_of_a_guess() -> None:
    async def drain(numbers: list[int]) -> int:
        taken = len(numbers)
        numbers.clear()
        return taken

    call = ToolCall("drain", {"numbers": [1, 2]})
    assert await ToolEnvironment({"drain": drain}).peek(call) == Result(value=2, ahead=True)
    assert call.arguments == {"numbers": [1, 2]}


async def test_a_read_can_run_ahead_in_another_way() -> None:
    async def get(order: int) -> str:
        return f"{order}, called"

    async def get_ahead(order: int) -> str:
        return f"{order}, ahead"

    tools = ToolEnvironment({"get_order": get}, ahead={"get_order": get_ahead})
    assert (await tools.step(order(70))).value == "70, called"
    assert (await tools.peek(order(70))).value == "70, ahead"
    with pytest.raises(ValueError, match="'cancel' is to be run ahead, but is no read"):
        ToolEnvironment({"get_order": get}, writes={"cancel": get}, ahead={"cancel": get})


async def test_what_cannot_be_copied_is_not_kept() -> None:
    class Uncopied:
        def __deepcopy__(self, _: object) -> object:
            raise OSError("no")

    async def get() -> Uncopied:
        return Uncopied()

    with pytest.raises(Unspeculable, match="no-copy"):
        await ToolEnvironment({"get": get}).peek(ToolCall("get"))


async def test_a_session_without_end_remembers_a_bounded_number_of_calls_and_never_gives_a_key_twice() -> None:
    async def get(order: int) -> int:
        return order

    tools, keys = ToolEnvironment({"get_order": get}), list[object]()
    for number in range(2_500):
        for each in (order(0), order(number + 1)):
            keys.append(tools.key(each))
            await tools.step(each)
    assert len(set(keys)) == len(keys)
    assert len(tools._served) <= 1_000


async def test_a_function_that_is_not_async_is_named() -> None:
    def get() -> int:
        return 7

    with pytest.raises(
        TypeError, match="the tool 'get' gave a value of int that cannot be awaited: it has to be an async"
    ):
        await ToolEnvironment({"get": get}).step(ToolCall("get"))
