"""The MCP server with clients as they are: they call every tool, give up, vanish, and send what tokens they have."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import aiohttp
import httpx2
import jsonschema
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from starlette.datastructures import Headers

from agent.errors import ConfigurationError
from agent.keeper import Keeper
from agent.mcp_server.address import Address
from agent.mcp_server.http_service import _Entrance, serve_http
from agent.mcp_server.playwright_names import playwright_tools
from agent.mcp_server.server import mcp_server
from agent.mcp_server.sessions import LEFT_SECONDS, Sessions
from agent.mcp_server.tools import PageTool, page_tools
from agent.settings import load_settings
from browser.pool import BrowserPool
from tests.agent.command import SPECCACHE
from tests.browser.waiting import gone, until
from tests.processes import browsers
from tests.website import Website

TOKEN = "Schlüssel-密"
FENCE = "<untrusted_page>"
PAGES = {
    "/": "<title>Harbour</title><a href=/tides>Tide tables</a> <a href=/form>Form</a>" + "<p>Slack water.</p>" * 60,
    "/tides": "<title>Tides</title><p>High water is at noon.</p>",
    "/find": "<title>Results</title><a href=/tides>Tide tables</a>",
    "/form": """<title>Form</title><input aria-label=Name><button onclick="o.textContent = 'Hello'">Greet</button>
        <select aria-label=Tide><option>low<option>high</select><label><input type=checkbox>Tell me</label>
        <input type=file aria-label=Chart><p id=o></p>""",
    "/never": "never",
}
OWN: Sequence[tuple[str, dict[str, Any]]] = (
    ("open", {"url": "/", "goal": "When is high water?"}),
    ("read_more", {}),
    ("look", {}),
    ("find", {"text": "slack water"}),
    ("follow", {"link": "1"}),
    ("back", {}),
    ("search", {"query": "tides"}),
    ("open", {"url": "/form"}),
    ("type", {"field": "c1", "text": "Bo"}),
    ("press", {"key": "Tab"}),
    ("click", {"control": "c2"}),
    ("select", {"control": "c3", "option": "high"}),
    ("check", {"control": "c4", "on": True}),
    ("upload", {"control": "c5", "path": "chart.txt"}),
    ("hover", {"control": "c2"}),
    ("scroll", {"to": "bottom"}),
    ("wait_for", {"text": "Hello"}),
    ("switch_tab", {"number": 1}),
    ("status", {"wait": True}),
)
PLAYWRIGHT: Sequence[tuple[str, dict[str, Any]]] = (
    ("browser_navigate", {"url": "/"}),
    ("read_more", {}),
    ("browser_snapshot", {}),
    ("browser_find", {"text": "slack water"}),
    ("browser_click", {"element": "Tide tables", "target": "1"}),
    ("browser_navigate_back", {}),
    ("search", {"query": "tides"}),
    ("browser_navigate", {"url": "/form"}),
    ("browser_type", {"target": "c1", "text": "Bo", "slowly": True}),
    ("browser_press_key", {"key": "Tab"}),
    ("browser_click", {"target": "c2"}),
    ("browser_select_option", {"target": "c3", "values": ["high"]}),
    ("check", {"control": "c4", "on": True}),
    ("upload", {"control": "c5", "path": "chart.txt"}),
    ("browser_hover", {"target": "c2"}),
    ("scroll", {"to": "bottom"}),
    ("browser_wait_for", {"text": "Hello"}),
    ("switch_tab", {"number": 1}),
    ("status", {}),
)


@dataclass(slots=True, kw_only=True)
class Served:
    """A server in this process, and the site it reads."""

    url: str
    site: Website
    sessions: Sessions
    now: list[float] = field(default_factory=lambda: [0.0])

    async def pool(self) -> BrowserPool:
        return (await self.sessions._ground()).pool


@pytest.fixture(scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    chart = tmp_path_factory.mktemp("files") / "chart.txt"
    chart.write_text("deep")
    now = [0.0]
    async with Website(PAGES) as site:
        search = f"{site.url}/find?q={{query}}"
        settings = load_settings(act=True, search=search, files=[chart], part_chars=500, pool_size=2)
        with Keeper(settings) as keeper:
            async with Sessions(settings, keeper, url=site.url, clock=lambda: now[0]) as sessions:
                address = Address(port=free_port(), token=TOKEN)
                server = mcp_server(sessions, page_tools(acting=True, searching=True), over_http=True)
                serving = asyncio.create_task(serve_http(server, sessions, address), name="serve")
                await asyncio.sleep(0)  # it listens from its first step on
                yield Served(url=f"http://127.0.0.1:{address.port}/mcp", site=site, sessions=sessions, now=now)
                serving.cancel()
                with suppress(asyncio.CancelledError):
                    await serving


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def over(url: str, http: httpx2.AsyncClient) -> Client:
    return Client(streamable_http_client(url, http_client=http))


def with_token() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(headers={b"Authorization": f"Bearer {TOKEN}".encode()}, timeout=30)


@pytest.mark.parametrize(("make", "calls"), [(page_tools, OWN), (playwright_tools, PLAYWRIGHT)])
async def test_every_tool_takes_and_gives_what_it_announces(
    served: Served, make: Any, calls: Sequence[tuple[str, dict[str, Any]]]
) -> None:
    tools: Sequence[PageTool] = make(acting=True, searching=True)
    async with Client(mcp_server(served.sessions, tools, over_http=False)) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {name for name, _ in calls} == set(listed)
        for name, arguments in calls:
            given = arguments | ({"url": served.site.url + arguments["url"]} if "url" in arguments else {})
            jsonschema.validate(given, listed[name].input_schema)
            answer = await client.call_tool(name, given)
            assert not answer.is_error, (name, answer.content)
            jsonschema.validate(answer.structured_content, listed[name].output_schema)
            assert answer.structured_content.get("problem") is None
            assert served.site.url not in answer.content[0].text.partition(FENCE)[0]
        for name, tool in listed.items():
            wrong = await client.call_tool(name, {"no such": 1})
            assert wrong.is_error, name
            assert ", ".join(tool.input_schema["properties"]) in wrong.content[0].text
    await served.sessions.close("")


def test_a_client_written_for_playwright_mcp_finds_its_arguments() -> None:
    schemas = {tool.name: tool.schema for tool in playwright_tools(acting=True, searching=False)}
    required = {name: sorted(schema["required"]) for name, schema in schemas.items() if name.startswith("browser_")}
    assert required == {
        "browser_navigate": ["url"],
        "browser_navigate_back": [],
        "browser_snapshot": [],
        "browser_find": ["text"],
        "browser_click": ["target"],
        "browser_type": ["target", "text"],
        "browser_select_option": ["target", "values"],
        "browser_hover": ["target"],
        "browser_press_key": ["key"],
        "browser_wait_for": ["text"],
    }


async def test_a_call_that_is_given_up_leaves_the_session_where_it_was(served: Served) -> None:
    served.site.shut("/never")
    async with with_token() as http, over(served.url, http) as client:
        await client.call_tool("open", {"url": served.site.url})
        asked = served.site.count("/never")
        call = asyncio.create_task(client.call_tool("open", {"url": f"{served.site.url}/never"}))
        await served.site.arrived("/never", count=asked + 1)
        call.cancel()
        with suppress(asyncio.CancelledError):
            await call
        assert (await client.call_tool("look", {})).structured_content["title"] == "Harbour"
        page = (await client.call_tool("follow", {"link": "1"})).structured_content
        assert (page["title"], page["problem"]) == ("Tides", None)
    await nothing_open(served)


async def test_a_call_under_way_is_answered_when_the_server_ends(served: Served) -> None:
    served.site.shut("/never")
    asked = served.site.count("/never")
    async with with_token() as http, over(served.url, http) as client:
        call = asyncio.create_task(client.call_tool("open", {"url": f"{served.site.url}/never"}))
        await served.site.arrived("/never", count=asked + 1)
        served.sessions.give_up_calls()
        answer = await call
        assert answer.is_error
        assert "the server ends\nhint: " in answer.content[0].text
    await nothing_open(served)


async def test_a_client_that_vanishes_in_the_middle_of_a_call_gives_its_place_back(served: Served) -> None:
    never, asked = served.site.shut("/never"), served.site.count("/never")
    async with Bare(served.url) as client:
        await client.begin()
        await client.call("open", url=served.site.url)
        opening = asyncio.create_task(client.call("open", url=f"{served.site.url}/never"))
        await served.site.arrived("/never", count=asked + 1)
        [session] = served.sessions._sessions.values()
        assert session.busy
        served.now[0] += LEFT_SECONDS
        await served.sessions.close_idle()
        opening.cancel()
    while served.sessions._streams:
        await asyncio.sleep(0)
    never.set()
    while session.busy:
        await asyncio.sleep(0)
    served.now[0] += LEFT_SECONDS - 1
    await served.sessions.close_idle()
    assert repr(served.sessions).startswith("<Sessions 1/"), "it may come back"
    served.now[0] += 1
    await served.sessions.close_idle()
    await nothing_open(served)


class Bare:
    """A client that says no goodbye: its connections break, as those of one that is killed."""

    def __init__(self, url: str) -> None:
        self._url = url
        accepted = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {TOKEN}"}
        self._http = aiohttp.ClientSession(headers=accepted)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.close()

    async def begin(self) -> None:
        asked = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bare", "version": "1"}}
        async with self._post(id=1, method="initialize", params=asked) as answer:
            await answer.read()
            self._http.headers[MCP_SESSION_ID_HEADER] = answer.headers[MCP_SESSION_ID_HEADER]
        async with self._post(method="notifications/initialized") as answer:
            assert answer.status == 202
        self._stream = await self._http.get(self._url)

    async def call(self, tool: str, **arguments: str) -> None:
        async with self._post(id=2, method="tools/call", params={"name": tool, "arguments": arguments}) as answer:
            assert b"isError" in await answer.read()

    def _post(self, **message: object) -> Any:
        return self._http.post(self._url, json={"jsonrpc": "2.0", **message})


async def nothing_open(served: Served) -> None:
    assert repr(served.sessions).startswith("<Sessions 0/")
    await until(await served.pool(), lambda now: now.foreground == 0 == now.loading)


async def test_a_client_that_is_killed_takes_server_and_browsers_with_it(served: Served, tmp_path: Path) -> None:
    never, asked, pipe = served.site.shut("/never"), served.site.count("/never"), asyncio.subprocess.PIPE
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "SPECCACHE_"))}
    process = await asyncio.create_subprocess_exec(
        SPECCACHE,
        "mcp",
        "--no-speculation",
        "--url",
        served.site.url,
        cwd=tmp_path,
        env=kept,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
    )
    assert process.stdin is not None
    assert process.stderr is not None
    asked_for = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bare", "version": "1"}}
    called = {"name": "open", "arguments": {"url": f"{served.site.url}/never"}}
    for message in (
        {"id": 1, "method": "initialize", "params": asked_for},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": called},
    ):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    await served.site.arrived("/never", count=asked + 1)
    started = browsers(process.pid)
    assert started
    for number in (0, 1):
        process._transport.get_pipe_transport(number).close()  # type: ignore[attr-defined]
    assert await process.wait() == 0
    assert await process.stderr.read() == b""
    await gone(list(started))
    never.set()


@pytest.mark.parametrize(
    ("token", "sent", "is_admitted"),
    [
        ("plain", b"Bearer plain", True),
        ("plain", b"bearer  plain ", True),
        ("plain", b"Bearer plai", False),
        ("plain", b"Basic plain", False),
        ("plain", b"plain", False),
        ("plain", b"", False),
        (TOKEN, f"Bearer {TOKEN}".encode(), True),
        (TOKEN, f"Bearer {TOKEN}".encode("latin-1", "replace"), False),
        ("Schlüssel", "Bearer Schlüssel".encode(), True),
        ("Schlüssel", "Bearer Schlüssel".encode("latin-1"), True),
        ("Schlüssel", b"Bearer Schl?ssel", False),
        ("voilà", "Bearer voilà".encode(), True),  # its last byte is a space of Latin-1
    ],
)
async def test_a_token_is_compared_as_it_was_sent(served: Served, token: str, sent: bytes, is_admitted: bool) -> None:
    async def application(*_: object) -> None:
        raise AssertionError("nothing is asked of it")

    entrance = _Entrance(application, served.sessions, token=token)
    assert entrance._is_admitted(Headers(raw=[(b"authorization", sent)])) is is_admitted


@pytest.mark.parametrize("token", ["secret\n", " secret", "two words", "nul\0", "half \udc80"])
def test_a_token_that_no_client_can_send_is_refused(token: str) -> None:
    with pytest.raises(ConfigurationError, match="no client can send it"):
        Address(token=token)
