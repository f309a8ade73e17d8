"""Speculation in other people's agents changes nothing but the time: the OpenAI tools loop, LangGraph, BrowserGym."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, Tool, ToolException, tool
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode, tools_condition
from openai import AsyncOpenAI

from agent.adapters.browser_gym import AsyncBrowserGym, BrowserGym
from agent.adapters.browser_gym_action import Message, Noop, parse_action
from agent.adapters.draft_calls import DraftCalls
from agent.adapters.langchain_tools import speculative_toolkit
from agent.adapters.openai_tools import run_tools
from agent.errors import ActionUnreadable
from browser.action import (
    Action,
    Back,
    Check,
    Click,
    Forward,
    Hover,
    Press,
    Scroll,
    Select,
    SwitchTab,
    Type,
    Upload,
    Visit,
)
from browser.slots.pressure import Pressure, PressureLimits
from speccache import Event, EventKind, SpeculativeTools, ToolCall
from tests.endpoints.scripted import Call, Say, Script, ScriptedEndpoint
from tests.speccache.progress import until
from tests.speccache.shop import Shop
from tests.website import Website

TASK = [{"role": "user", "content": "Where are the orders of user 7?"}]
SCHEMAS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("get_user", "get_order", "cancel")
]


def over(shop: Shop, **options: Any) -> SpeculativeTools:
    reads = {"get_user": shop.get_user, "get_order": shop.get_order}
    return SpeculativeTools(reads, writes={"cancel": shop.cancel}, **options)


@asynccontextmanager
async def model(script: Script) -> AsyncIterator[tuple[ScriptedEndpoint, AsyncOpenAI]]:
    async with ScriptedEndpoint(script) as endpoint:
        address = {"base_url": endpoint.base_url, "api_key": endpoint.api_key}
        async with AsyncOpenAI(**address, max_retries=0) as client:
            yield endpoint, client


def told(messages: Sequence[dict[str, Any]]) -> list[str]:
    return [message["content"] for message in messages if message["role"] == "tool"]


async def test_the_tools_loop_runs_until_there_is_an_answer() -> None:
    shop, events = Shop(), list[Event]()
    looked = asyncio.Event()
    script = [
        Say(calls=[Call("get_user", '{"id": 7}')]),
        Say(looked, "Looking.", calls=[Call("get_order", '{"order": 70}'), Call("get_order", '{"order": 71}')]),
        Say("Both are on their way."),
    ]
    guesses = [ToolCall("get_order", {"order": number}) for number in (70, 71)]

    def note(event: Event) -> None:
        events.append(event)
        if [each.kind for each in events].count(EventKind.LOAD) == 2:
            looked.set()

    async with model(script) as (endpoint, client), over(shop, predict=lambda _: guesses, listener=note) as tools:
        conversation = await run_tools(client, tools, model="scripted", messages=TASK, schemas=SCHEMAS, temperature=0)
    assert conversation.answer == "Both are on their way."
    assert [message["role"] for message in conversation.messages] == [
        "user",
        *["assistant", "tool"] * 1,
        "assistant",
        "tool",
        "tool",
        "assistant",
    ]
    assert [json.loads(text).get("order") for text in told(conversation.messages)] == [None, 70, 71]
    assert [request.body["temperature"] for request in endpoint.requests] == [0, 0, 0]
    assert endpoint.requests[2].body["messages"][3]["content"] == "Looking."
    assert (tools.account.hits, tools.account.misses) == (2, 1)


async def test_calls_of_one_message_take_effect_in_its_order() -> None:
    calls = [Call("get_order", '{"order": 70}'), Call("cancel", '{"order": 70}'), Call("get_order", '{"order": 70}')]
    async with model([Say(calls=calls), Say("Done.")]) as (_, client), over(Shop()) as tools:
        conversation = await run_tools(client, tools, model="scripted", messages=TASK, schemas=SCHEMAS)
    before, cancelled, after = told(conversation.messages)
    assert (json.loads(before)["cancelled"], cancelled, json.loads(after)["cancelled"]) == (
        False,
        "70 is cancelled",
        True,
    )


async def test_a_model_is_told_of_calls_that_cannot_be() -> None:
    calls = [Call("get_usr", "{}"), Call("get_user", '{"id'), Call("get_user", "[7]"), Call("get_user", '{"nr": 7}')]
    async with model([Say(calls=calls), Say("Done.")]) as (_, client), over(Shop()) as tools:
        conversation = await run_tools(client, tools, model="scripted", messages=TASK, schemas=SCHEMAS)
    assert [
        text.startswith("error: get_us") or "no tool 'get_usr'" in text for text in told(conversation.messages)
    ] == [True] * 4


async def test_a_tool_that_fails_ends_the_loop_with_its_own_error() -> None:
    shop = Shop()
    shop.broken["order 70"] = OSError("no line")
    calls = [Call("get_order", '{"order": 71}'), Call("get_order", '{"order": 70}')]
    async with model([Say(calls=calls)]) as (_, client), over(shop) as tools:
        with pytest.raises(OSError, match="no line"):
            await run_tools(client, tools, model="scripted", messages=TASK, schemas=SCHEMAS)


async def test_the_loop_ends_after_its_last_round() -> None:
    script = [Say(calls=[Call("get_user", '{"id": 7}')])] * 2
    async with model(script) as (endpoint, client), over(Shop()) as tools:
        conversation = await run_tools(client, tools, model="scripted", messages=TASK, schemas=SCHEMAS, max_rounds=2)
    assert conversation.answer is None
    assert len(endpoint.requests) == 2


async def test_a_draft_model_names_the_next_calls() -> None:
    shop, events = Shop(), list[Event]()
    script = [Say(calls=[Call("get_order", '{"order": 71}'), Call("get_order", '{"order": 72}')]), Say("Nothing more.")]
    async with model(script) as (endpoint, client):
        draft = DraftCalls(client, model="scripted", messages=TASK, schemas=SCHEMAS)
        async with over(shop, predict=draft, listener=events.append) as tools:
            await tools.get_user(7)
            await until(events, EventKind.LOAD, 2)
            assert (await tools.get_order(71))["order"] == 71
            await until(events, EventKind.PREDICT, 2)
    assert tools.account.hits == 1
    asked = endpoint.requests[1].body["messages"]
    assert [message["role"] for message in asked] == ["user", "assistant", "tool", "assistant", "tool"]
    assert json.loads(asked[2]["content"])["orders"] == [70, 71, 72]


class Archive(BaseTool):
    """A tool that is no function."""

    name: str = "archive"
    description: str = "Look into the archive."
    handle_tool_error: bool = True

    def _run(self, query: str) -> str:
        if query == "burnt":
            raise ToolException("it burnt down")
        return f"{query} of 1908"


@tool
def opening(day: str, season: str = "summer") -> str:
    """When it is open."""
    return f"{day} in {season}: 7 to 9"


@tool(response_format="content_and_artifact")
async def chart(number: int) -> tuple[str, dict[str, int]]:
    """Draw a chart."""
    return f"chart {number}", {"number": number}


@tool
async def counted(state: Annotated[dict[str, Any], InjectedState]) -> str:
    """Count what was said."""
    return f"{len(state['messages'])} messages"


@tool
async def whose(config: RunnableConfig) -> str:
    """Say who asks."""
    return str(config["configurable"]["user"])


@tool
async def book(day: str) -> str:
    """Book a tour."""
    return f"booked for {day}"


LANGCHAIN = [opening, chart, counted, whose, book, Archive()]
READS = {"opening", "chart", "counted", "whose", "archive"}


def wish(*calls: tuple[str, dict[str, Any]]) -> AIMessage:
    made = [
        {"name": name, "args": arguments, "id": f"{name}-{at}", "type": "tool_call"}
        for at, (name, arguments) in enumerate(calls)
    ]
    return AIMessage("", tool_calls=made)


def graph(tools: Sequence[BaseTool], said: Sequence[AIMessage], ready: asyncio.Event) -> Any:
    fake = GenericFakeChatModel(messages=iter(said))

    async def think(state: MessagesState) -> dict[str, list[AnyMessage]]:
        if len(state["messages"]) > 1:
            await ready.wait()
        return {"messages": [await fake.ainvoke(state["messages"])]}

    built = StateGraph(MessagesState)
    built.add_node("model", think)
    built.add_node("tools", ToolNode(tools))
    built.set_entry_point("model")
    built.add_conditional_edges("model", tools_condition)
    built.add_edge("tools", "model")
    return built.compile()


async def test_langgraph_sees_what_it_would_see_without() -> None:
    said = [
        wish(("opening", {"day": "Monday"})),
        wish(("chart", {"number": 3}), ("counted", {}), ("whose", {}), ("opening", {"day": 7})),
        wish(("book", {"day": "Monday"})),
        wish(("archive", {"query": "trams"}), ("archive", {"query": "burnt"})),
        AIMessage("Done."),
    ]
    guesses = [
        ToolCall("chart", {"number": 3}),
        ToolCall("archive", {"query": "burnt"}),
        ToolCall("book", {"day": "x"}),
    ]
    events, ready, never_wait = list[Event](), asyncio.Event(), asyncio.Event()
    never_wait.set()

    def note(event: Event) -> None:
        events.append(event)
        if event.kind is EventKind.LOAD and event.action == "chart(number=3)":
            ready.set()

    async def run(tools: Sequence[BaseTool], gate: asyncio.Event) -> list[AnyMessage]:
        asked = {"messages": [HumanMessage("What about Monday?", id="asked")]}
        state = await graph(tools, said, gate).ainvoke(asked, {"configurable": {"user": "ann"}})
        return list(state["messages"])

    plain = await run(LANGCHAIN, never_wait)
    async with speculative_toolkit(LANGCHAIN, reads=READS, predict=lambda _: guesses, listener=note) as toolkit:
        wrapped = await run(toolkit.tools, ready)
    results = [[message for message in messages if isinstance(message, ToolMessage)] for messages in (plain, wrapped)]
    seen = [[(each.name, each.content, each.status, each.artifact) for each in found] for found in results]
    assert seen[0] == seen[1]
    assert ("whose", "ann", "success", None) in seen[1]
    assert ("archive", "it burnt down", "error", None) in seen[1]
    assert toolkit.account.hits >= 1
    assert toolkit.account.failures == {"ToolException: it burnt down": toolkit.account.failures.total()}


async def test_wrapped_tools_look_as_before_and_only_await() -> None:
    async with speculative_toolkit(LANGCHAIN, reads=READS) as toolkit:
        looks = [
            [(each.name, each.description, each.args, each.response_format) for each in tools]
            for tools in (LANGCHAIN, toolkit.tools)
        ]
        assert looks[0] == looks[1]
        assert await toolkit.tools[0].ainvoke({"day": "Monday"}) == "Monday in summer: 7 to 9"
        with pytest.raises(NotImplementedError):
            toolkit.tools[0].invoke({"day": "Monday"})


async def test_tools_that_cannot_be_wrapped_are_named() -> None:
    with pytest.raises(ValueError, match="there is no tool 'open', only opening"):
        async with speculative_toolkit([opening], reads={"open"}):
            pass
    with pytest.raises(ValueError, match="'old' does not say what its argument is"):
        async with speculative_toolkit([Tool(name="old", description="Old.", func=str)], reads=()):
            pass


@pytest.mark.parametrize(
    ("written", "action"),
    [
        ('goto("https://example.org/")', Visit("https://example.org/")),
        ('click("12")', Visit("12")),
        ("click('[12]')", Visit("12")),
        ("click(12)", Visit("12")),
        ('click("c3", button="left")', Click("c3")),
        ('fill("c3", "a \\"text\\"")', Type("c3", 'a "text"')),
        ('clear("c3")', Type("c3", "")),
        ('check("c1")', Check("c1")),
        ('uncheck("c1")', Check("c1", on=False)),
        ('select_option("c2", "red")', Select("c2", "red")),
        ('select_option("c2", options=["red"])', Select("c2", "red")),
        ('hover("c2")', Hover("c2")),
        ('upload_file("c4", "a.txt")', Upload("c4", "a.txt")),
        ('keyboard_press("Enter")', Press("Enter")),
        ("scroll(0, 200)", Scroll("down")),
        ("scroll(0, -200.5)", Scroll("up")),
        ("tab_focus(1)", SwitchTab(2)),
        ("go_back()", Back()),
        (" go_forward()\n", Forward()),
        ('send_msg_to_user("It is 7.")', Message("It is 7.")),
        ('report_infeasible("no such page")', Message("no such page")),
    ],
)
def test_actions_are_read_as_browsergym_writes_them(written: str, action: Action) -> None:
    assert parse_action(written) == action


def test_doing_nothing_is_an_action() -> None:
    assert isinstance(parse_action("noop(1000)"), Noop)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("", "this is no action"),
        ("click(", "this is no action"),
        ("click", "this is no action"),
        ("page.click('1')", "this is no action"),
        ("click('1'); click('2')", "this is no action"),
        ("click('1')\nclick('2')", "this is no action"),
        ("goto(open('/etc/passwd').read())", "this is no action"),
        ("click(*['1'])", "this is no action"),
        ("fly('1')", "there is no action 'fly', only"),
        ("click()", "click: missing a required argument: 'bid'"),
        ("click('1', button='right')", "only the left button"),
        ("fill('c1', 3)", "the value is no text"),
        ("scroll(5, 0)", "only up and down"),
        ("tab_focus('x')", "no whole number"),
        ("goto('')", "the url is no text"),
    ],
)
def test_what_is_no_action_is_said(written: str, says: str) -> None:
    with pytest.raises(ActionUnreadable, match=re.escape(says)):
        parse_action(written)


PAGES = {
    "/": "<title>Depot</title><h1>Depot</h1><p>Open at 7.</p><a href=/tram>The oldest tram</a> <a href=/form>Form</a>",
    "/tram": "<title>Trams</title><h1>Trams</h1><p>The oldest tram was built in 1908.</p><a href=/>Depot</a>",
    "/form": """<title>Form</title><input aria-label=Name id=n><p id=o></p>
        <button onclick="o.textContent = 'Hello ' + n.value">Greet</button>""",
}


@pytest.fixture
async def site() -> AsyncIterator[Website]:
    async with Website(dict(PAGES)) as website:
        yield website


async def test_an_episode(site: Website, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with AsyncBrowserGym.open(pool_size=2, act=True) as env:
        env._pool.pressure = Pressure(PressureLimits(loop_lag_seconds=9.0, cpu_share=9.0, memory_share=9.0))
        with pytest.raises(RuntimeError, match="begin one with reset"):
            await env.step("noop()")
        obs, info = await env.reset("When was the oldest tram built?", site.url + "/")
        assert (obs["url"], obs["open_pages_titles"], obs["last_action_error"]) == (site.url + "/", ("Depot",), "")
        assert info == {"speculation": "miss"}
        while not env.account.speculated:  # it may wait for an idle processor, until somebody waits for it
            await asyncio.sleep(0)
        obs, reward, terminated, truncated, info = await env.step('click("1")')
        assert "built in 1908" in obs["axtree_txt"]
        assert (reward, terminated, truncated) == (0.0, False, False)
        assert info["speculation"] in ("hit", "join")
        assert site.count("/tram") == 1
        obs = (await env.step("go_back()")).obs
        assert (obs["url"], obs["last_action_error"]) == (site.url + "/", "")
        for wrong, says in (('click("99")', "no link"), ("fly()", "no action 'fly'"), ('goto("/gone")', "")):
            obs = (await env.step(wrong)).obs
            assert says in obs["last_action_error"]
            assert obs["last_action"] == wrong
        await env.step(f'goto("{site.url}/form")')
        await env.step('fill("c1", "Ann")')
        obs = (await env.step('click("c2")')).obs
        assert ("Hello Ann" in obs["axtree_txt"], obs["last_action_error"]) == (True, "")
        obs, _, terminated, _, _ = await env.step('send_msg_to_user("In 1908.")')
        assert terminated
        assert obs["chat_messages"][-1] == {"role": "assistant", "message": "In 1908."}
        with pytest.raises(RuntimeError, match="begin one with reset"):
            await env.step("noop()")
        assert (await env.reset("Another", site.url + "/tram")).obs["goal"] == "Another"
    assert env.account.hits + env.account.joins >= 1


async def test_an_episode_without_await(site: Website, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def play() -> tuple[str, str]:
        with BrowserGym(speculation=False) as env:
            with pytest.raises(RuntimeError, match="begin one with reset"):
                env.step("noop()")
            env.reset("Greet", site.url + "/form")
            refused = env.step('click("c2")').obs["last_action_error"]
            return env.step("noop()").obs["url"], refused

    url, refused = await asyncio.to_thread(play)
    assert url == site.url + "/form"
    assert refused.startswith("Controls cannot be used")
