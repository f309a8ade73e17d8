"""The MCP server, asked by the SDK's own client: over standard streams and HTTP, in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import httpx2
import jsonschema
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from agent.errors import ConfigurationError, ModelUnreadable, ServerBusy, ToolRefused
from agent.keeper import Keeper
from agent.mcp_server.address import Address
from agent.mcp_server.playwright_names import playwright_tools
from agent.mcp_server.sessions import Sessions
from agent.mcp_server.tools import page_tools
from agent.settings import load_settings
from tests.agent.command import SPECCACHE, running, speccache
from tests.browser.waiting import gone
from tests.processes import browsers
from tests.website import Website

TOKEN = "a-token-for-tests"
READING = {"open", "follow", "back", "read_more", "find", "look", "status"}
PAGES = {
    "/": "<title>Harbour</title><p>Welcome.</p><a href=/tides>Tide tables</a> <a href=/staff>Staff</a>",
    "/tides": "<title>Tides</title><p>High water is at noon.</p>" + "<p>Slack water follows.</p>" * 40,
    "/staff": "<title>Staff</title><p>The pilot is Ann.</p>",
    "/form": """<title>Form</title><input aria-label=Name id=n><a href=/staff>Staff</a><p id=o></p>
        <button onclick="o.textContent = 'Hello ' + n.value">Greet</button>""",
}


@pytest.fixture
async def site() -> AsyncIterator[Website]:
    async with Website(PAGES) as website:
        yield website


def server(*words: str, cwd: Path) -> StdioServerParameters:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "SPECCACHE_"))}
    return StdioServerParameters(
        command=str(SPECCACHE), args=["mcp", *words], cwd=cwd, env={**kept, "SPECCACHE_PART_CHARS": "500"}
    )


class Caller:
    """Calls tools, and holds every answer against the schema its tool announces."""

    def __init__(self, client: Client, tools: dict[str, Any]) -> None:
        self._client = client
        self._schemas = {name: tool.output_schema for name, tool in tools.items()}
        self.tools = tools

    async def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        answer = await self.answer(tool, **arguments)
        assert not answer.is_error, answer.content
        jsonschema.validate(answer.structured_content, self._schemas[tool])
        found: dict[str, Any] = answer.structured_content
        return found

    async def answer(self, tool: str, /, **arguments: Any) -> CallToolResult:
        return await self._client.call_tool(tool, arguments)

    async def refusal(self, tool: str, /, **arguments: Any) -> str:
        answer = await self.answer(tool, **arguments)
        assert answer.is_error
        return text_of(answer)


@asynccontextmanager
async def calling(client: Client) -> AsyncIterator[Caller]:
    async with client:
        tools = (await client.list_tools()).tools
        yield Caller(client, {tool.name: tool for tool in tools})


def text_of(answer: CallToolResult) -> str:
    [content] = answer.content
    assert content.type == "text"
    return content.text


async def test_a_client_reads_pages_that_were_loaded_ahead(site: Website, tmp_path: Path) -> None:
    others = browsers()  # of tests before this one in the same process
    async with calling(Client(server("--url", site.url, cwd=tmp_path))) as call:
        assert set(call.tools) == READING
        assert all(tool.annotations.read_only_hint and tool.description for tool in call.tools.values())
        assert "no page is open" in await call.refusal("follow", link="1")
        home = await call("open", url=site.url, goal="When is high water? See the tide tables.")
        assert (home["title"], home["cache"]) == ("Harbour", "miss")
        tides = next(link for link in home["links"] if link["text"] == "Tide tables")
        assert tides["url"] == f"{site.url}/tides"

        await site.arrived("/tides")
        status = await call("status", wait=True)
        assert (status["goal"][:4], status["loading"], status["sessions"]) == ("When", [], 1)
        answer = await call.answer("follow", link=tides["number"])
        page = answer.structured_content
        assert (page["title"], page["cache"], site.count("/tides")) == ("Tides", "hit", 1)
        assert text_of(answer).startswith("<untrusted_page>\nURL: ")
        assert (await call("read_more"))["part"] == 2
        assert (await call("find", text="high water"))["text"].count("High water is at noon.") == 1
        assert (await call("look"))["part"] == 2
        assert (await call("back"))["title"] == "Harbour"
        assert (await call("follow", link="Staff"))["text"].startswith("The pilot is Ann.")
        assert (await call("status"))["hits"] >= 1

        refused = await call("open", url="http://127.0.0.2/")
        assert "private address" in refused["problem"]
        assert "only http and https" in (await call("open", url="file:///etc/passwd"))["problem"]
        assert "use its number" in await call.refusal("follow", link="no such link")
        assert "hint: Its arguments: link." in await call.refusal("follow", link="1", tab="2")
        assert "'url' is missing" in await call.refusal("open")
        assert "'goal'" in await call.refusal("open", url=site.url, goal=["high water"])
        assert "hint: Its arguments: wait." in await call.refusal("status", waits=True)
        started = browsers() - others
        assert started
    await gone(list(started))


async def test_a_client_acts_by_the_names_of_playwright_mcp(site: Website, tmp_path: Path) -> None:
    words = ("--allow-host", "127.0.0.1", "--playwright-names", "--act", "--no-speculation")
    async with calling(Client(server(*words, cwd=tmp_path), mode="legacy")) as call:
        assert call.tools["browser_type"].annotations.destructive_hint
        form = await call("browser_navigate", url=f"{site.url}/form")
        assert [control["reference"] for control in form["controls"]] == ["c1", "c2"]
        await call("browser_type", element="the name", ref="c1", text="Bo")
        assert "Hello Bo" in (await call("browser_click", target="c2"))["text"]
        assert "Hello Bo" in (await call("browser_snapshot"))["text"]
        staff = await call("browser_click", target=str(form["links"][0]["number"]))
        assert (staff["title"], staff["cache"]) == ("Staff", "none")
        assert (await call("browser_navigate_back"))["title"] == "Form"


async def test_a_signal_ends_the_server_while_its_client_is_there(tmp_path: Path) -> None:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        SPECCACHE, "mcp", cwd=tmp_path, stdin=pipe, stdout=pipe, stderr=pipe, env=server(cwd=tmp_path).env
    )
    assert process.stdin is not None
    assert process.stdout is not None
    asked = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked}) + "\n"
    process.stdin.write(line.encode())
    assert json.loads(await process.stdout.readline())["result"]["serverInfo"]["name"] == "speccache"
    process.terminate()
    assert await process.wait() == 143  # its input is still open
    assert await process.communicate() == (b"", b"error: terminated\n")


async def test_clients_over_http_have_a_session_each(site: Website, tmp_path: Path) -> None:
    variables = {"SPECCACHE_MCP_TOKEN": TOKEN, "SPECCACHE_QUESTIONS_AT_ONCE": "2"}
    words = ("mcp", "--http", "--port", "0", "--url", site.url)
    async with running(*words, cwd=tmp_path, variables=variables) as command:
        assert command.process.stderr is not None
        url = (await command.process.stderr.readline()).decode().split()[-1]
        async with aiohttp.ClientSession() as strange, strange.post(url, json={}) as answer:
            assert answer.status == 401
        headers = {"Authorization": f"Bearer {TOKEN}"}
        origin = {**headers, "Origin": "http://evil.example"}
        async with aiohttp.ClientSession() as browser, browser.post(url, json={}, headers=origin) as answer:
            assert answer.status == 403
        async with httpx2.AsyncClient(headers=headers) as http, calling(over(url, http)) as third:
            async with calling(over(url, http)) as one, calling(over(url, http)) as two:
                await one("open", url=site.url)
                assert (await two("open", url=f"{site.url}/staff"))["title"] == "Staff"
                assert (await one("follow", link="Tide tables"))["title"] == "Tides"
                assert (await two("look"))["title"] == "Staff"
                assert "busy" in await third.refusal("open", url=site.url)
            assert (await third("status"))["sessions"] == 0
            assert (await third("open", url=site.url))["title"] == "Harbour"
            started = command.browsers()
            command.process.terminate()
        assert (await command.result()).code == 143
    assert started
    await gone(list(started))


def over(url: str, http: httpx2.AsyncClient) -> Client:
    return Client(streamable_http_client(url, http_client=http))


async def test_sessions_are_bounded_and_idle_ones_closed() -> None:
    now = [0.0]
    settings = load_settings(questions_at_once=2)
    with Keeper(settings) as keeper:
        async with Sessions(settings, keeper, idle_seconds=60, clock=lambda: now[0]) as sessions:
            first = sessions.get("a")
            now[0] = 30.0
            sessions.get("b")
            with pytest.raises(ServerBusy, match="2 clients"):
                sessions.get("c")
            now[0] = 60.0
            await sessions.close_idle()
            assert repr(sessions) == "<Sessions 1/2>"
            assert sessions.get("a") is not first
            sessions.get("b")
            now[0] = 100.0
            await sessions.close_idle()
            assert repr(sessions) == "<Sessions 2/2>", "both were called within a minute"
            await sessions.close("a")
            await sessions.close("a")
        assert repr(sessions) == "<Sessions 0/2>"


async def test_arguments_are_read_before_anything_is_done() -> None:
    with Keeper(load_settings()) as keeper:
        async with Sessions(load_settings(), keeper) as sessions:
            session = sessions.get("")
            tools = {tool.name: tool for tool in playwright_tools(acting=True, searching=True)}
            with pytest.raises(ModelUnreadable, match="no list of one text"):
                await tools["browser_select_option"].call(session, {"target": "c1", "values": ["a", "b"]})
            with pytest.raises(ToolRefused, match="no page is open"):
                await tools["browser_click"].call(session, {"target": "12"})
            reading = {tool.name: tool for tool in playwright_tools(acting=False, searching=False)}
            with pytest.raises(ToolRefused, match="only reads"):
                await reading["browser_click"].call(session, {"target": "c1"})


@pytest.mark.parametrize("make", [page_tools, playwright_tools])
def test_tools_are_listed_once_and_schemas_are_sound(make: Any) -> None:
    tools = make(acting=True, searching=True)
    assert len({tool.name for tool in tools}) == len(tools)
    for tool in tools:
        jsonschema.Draft202012Validator.check_schema(tool.schema)
    names = {tool.name for tool in make(acting=False, searching=False)}
    assert names.isdisjoint({"click", "type", "search", "browser_type"})


async def test_other_machines_need_a_token(tmp_path: Path) -> None:
    assert [Address(host=host).is_local for host in ("127.0.0.1", "::1", "localhost", "127.8.8.8")] == [True] * 4
    with pytest.raises(ConfigurationError, match="other machines"):
        Address(host="0.0.0.0")
    assert Address(host="example.org", token=TOKEN).token not in repr(Address(host="example.org", token=TOKEN))
    result = await speccache("mcp", "--http", "--host", "0.0.0.0", cwd=tmp_path)
    assert (result.code, "hint: Set SPECCACHE_MCP_TOKEN" in result.err, result.out) == (2, True, "")
