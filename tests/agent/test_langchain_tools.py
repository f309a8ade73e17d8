"""LangChain's tools run ahead: guesses are read like calls, and what blocks is in nobody's way."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool, Tool, tool
from pydantic import BaseModel, Field, field_validator

from agent.adapters import langchain_tools
from agent.adapters.blocking_calls import BlockingCalls
from agent.adapters.langchain_tools import speculative_toolkit
from speccache import Event, EventKind, ToolCall
from speccache.tools import ToolOptions
from tests.speccache.progress import until


class Room(BaseModel):
    """What `book_room` takes."""

    name: str = Field(min_length=3)
    seats: int = Field(default=4, ge=1)

    @field_validator("name")
    @classmethod
    def _marked(cls, name: str) -> str:
        return f"{name}!"  # reading it twice would be seen


def rooms(runs: list[Any]) -> BaseTool:
    async def look_up(name: str, seats: int = 2) -> str:
        runs.append((name, seats))
        return f"{name} for {seats}"

    return StructuredTool.from_function(coroutine=look_up, name="look_up", description="Look up.", args_schema=Room)


async def test_a_guess_is_read_by_the_tools_schema_as_a_call_is() -> None:
    runs, events = list[Any](), list[Event]()
    guesses = [{"name": "hall", "seats": "4"}, {"name": "x"}, {"name": "nave", "seats": 0}, {"place": "hall"}]
    named = [ToolCall("look_up", arguments) for arguments in guesses]
    async with speculative_toolkit(
        [rooms(runs)], reads={"look_up"}, predict=lambda _: named, listener=events.append
    ) as toolkit:
        await toolkit.tools[0].ainvoke({"name": "tower", "seats": 9})
        await until(events, EventKind.PREDICT)
        await until(events, EventKind.LOAD)
        assert toolkit.account.refusals == {"invalid": 2, "no-key": 1}
        assert await toolkit.tools[0].ainvoke({"name": "hall"}) == "hall! for 4"
        assert toolkit.account.hits == 1
        assert runs == [("tower!", 9), ("hall!", 4)]


class Archive(BaseTool):
    """A tool that is no function, and says nothing of its arguments."""

    name: str = "archive"
    description: str = "Look into the archive."
    runs: list[Any] = Field(default_factory=list)

    def _run(self, query: str) -> str:
        self.runs.append((query, threading.current_thread().name))
        return f"{query} of 1908"


class Ledger(Archive):
    """One whose arguments are read, and that is asynchronous."""

    name: str = "ledger"
    args_schema: type[BaseModel] = Room

    def _run(self, **_: Any) -> str:
        raise AssertionError("it is asynchronous")

    async def _arun(self, name: str, seats: int) -> str:
        self.runs.append((name, seats))
        return f"{name} {seats}"


class Heard(BaseCallbackHandler):
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.inputs: list[str] = []

    def on_tool_start(self, _: Any, input_str: str, **__: Any) -> None:
        self.inputs.append(input_str)


async def test_tools_that_are_no_functions_run_as_without_and_unheard_ahead() -> None:
    heard, events = Heard(), list[Event]()
    archive, ledger = Archive(callbacks=[heard]), Ledger()
    named = [ToolCall("archive", {"query": "trams"}), ToolCall("ledger", {"name": "hall", "seats": "3"})]
    async with speculative_toolkit(
        [archive, ledger], reads={"archive", "ledger"}, predict=lambda _: named, listener=events.append
    ) as toolkit:
        looked, written = toolkit.tools
        assert await looked.ainvoke({"query": 7}) == "7 of 1908"
        await until(events, EventKind.LOAD, 2)
        assert await looked.ainvoke({"query": "trams"}) == "trams of 1908"
        await until(events, EventKind.LOAD, 3)
        assert await written.ainvoke({"name": "hall", "seats": 3}) == "hall! 3"
        assert toolkit.account.hits == 2
    assert heard.inputs == ["{'query': 7}", "{'query': 'trams'}"]
    assert [query for query, _ in archive.runs] == [7, "trams", "trams"]
    assert {thread for _, thread in archive.runs[1:]} == {"tool-ahead"}
    assert ledger.runs[0] == ("hall!", 3)


async def test_a_guess_that_hangs_delays_no_call_and_not_the_end() -> None:
    begun, gate = threading.Semaphore(0), threading.Event()

    @tool
    def wait(number: int) -> str:
        """Wait."""
        if number > 9:
            begun.release()
            gate.wait()
        return f"{number} in {threading.current_thread().name}"

    events, options = list[Event](), ToolOptions(max_running=2, max_guesses=3)
    numbers = iter(range(10, 100))

    def predict(_: object) -> list[ToolCall]:
        return [ToolCall("wait", {"number": next(numbers)}) for _ in range(3)]

    async with speculative_toolkit(
        [wait], reads={"wait"}, predict=predict, options=options, listener=events.append
    ) as toolkit:
        for number in range(8):
            assert (await toolkit.tools[0].ainvoke({"number": number})).startswith(f"{number} in tool_")
            if number == 0:
                await until(events, EventKind.LAUNCH, 2)
                await asyncio.to_thread(lambda: (begun.acquire(), begun.acquire()))
        await until(events, EventKind.REFUSE)
    gate.set()
    assert toolkit.account.refusals["no-thread"]


async def test_tools_for_one_text_are_read_and_run_in_threads() -> None:
    class Query(BaseModel):
        """What it takes."""

        text: str

    events = list[Event]()
    shout = Tool(name="shout", description="Shout.", func=str.upper, args_schema=Query)
    named = [ToolCall("shout", {"text": "tram"}), ToolCall("shout", {"text": 7})]
    async with speculative_toolkit(
        [shout], reads={"shout"}, predict=lambda _: named, listener=events.append
    ) as toolkit:
        assert await toolkit.tools[0].ainvoke({"text": "bus"}) == "BUS"
        await until(events, EventKind.LOAD)
        assert await toolkit.tools[0].ainvoke({"text": "tram"}) == "TRAM"
        assert (toolkit.account.hits, toolkit.account.refusals["invalid"]) == (1, 1)


async def test_what_a_tool_runs_within_is_unheard_ahead() -> None:
    heard, events = list[str](), list[Event]()
    chapter = RunnableLambda(lambda number: f"chapter {number}")

    class Chain(BaseCallbackHandler):
        def on_chain_end(self, outputs: Any, **_: Any) -> None:
            heard.append(str(outputs))

    @tool
    async def read(number: int) -> str:
        """Read a chapter."""
        return await chapter.ainvoke(number)

    following = [ToolCall("read", {"number": 2})]
    async with speculative_toolkit([read], reads={"read"}, predict=lambda _: following, listener=events.append) as kit:
        await kit.tools[0].ainvoke({"number": 1}, {"callbacks": [Chain()]})
        await until(events, EventKind.LOAD)
        assert heard == ["chapter 1"]
        assert await kit.tools[0].ainvoke({"number": 2}) == "chapter 2"
        assert kit.account.hits == 1


async def test_what_a_cancelled_write_does_late_outdates_what_was_read_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads = BlockingCalls("tool")
    monkeypatch.setattr(langchain_tools, "BlockingCalls", lambda *_, **__: threads)
    begun, gate, events, stock = threading.Event(), threading.Event(), list[Event](), [3]

    @tool
    def sell() -> str:
        """Sell one."""
        begun.set()
        gate.wait()
        stock[0] -= 1
        return "sold"

    @tool
    async def count() -> str:
        """Count the stock."""
        return str(stock[0])

    @tool
    async def greet() -> str:
        """Greet."""
        return "hello"

    guessed = [ToolCall("count", {})]
    async with speculative_toolkit(
        [sell, count, greet], reads={"count", "greet"}, predict=lambda _: guessed, listener=events.append
    ) as kit:
        sold, counted, greeted = kit.tools
        selling = asyncio.create_task(sold.ainvoke({}))
        while not begun.is_set():
            await asyncio.sleep(0)
        selling.cancel()
        await asyncio.wait([selling])
        await greeted.ainvoke({})
        await until(events, EventKind.LOAD)
        gate.set()
        while not threads.unheard:
            await asyncio.sleep(0)
        assert await counted.ainvoke({}) == "2"
