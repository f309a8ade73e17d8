"""A scripted MCP client that walks the bundled site: how long it waits for pages, with loading ahead and without.

Invariant: both servers are asked for the same pages by the same client, which thinks as long before each.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from mcp import Client

from evals.bench.result import Result, compare
from evals.site import LatencyModel, Question, SiteServer, build_site

TIME_SCALE = 0.1
THINK_SECONDS = 1.0
_START = "from agent.cli import main; main()"


@dataclass(slots=True, kw_only=True)
class _Waits:
    """What the walks with one server took.

    Attributes:
        seconds: For each walk how long it waited for its pages, less the first, which nobody can guess.
        cached: How the cache had them.
    """

    seconds: list[float] = field(default_factory=list)
    cached: Counter[str] = field(default_factory=Counter)


async def mcp_client(*, pairs: int) -> Result:
    """Walk `pairs` gold paths with each server, in turn; the order within a pair alternates.

    Each path is walked by a client that says what it is after, the question, and by one of which its history alone
    tells. The ratio is that of the first; the second's is among the parts.
    """
    site = build_site()
    questions = [question for question in site.questions if question.hops >= 2]
    ahead, plain = (_Waits(), _Waits()), (_Waits(), _Waits())
    async with (
        SiteServer(site, latency=LatencyModel(time_scale=TIME_SCALE)) as server,
        _serving(server.url) as loading_ahead,
        _serving(server.url, "--no-speculation") as loading_nothing,
    ):
        for number in range(pairs):
            question = questions[number % len(questions)]
            for kind, goal in enumerate((question.question, "")):
                sides = ((loading_ahead, ahead[kind]), (loading_nothing, plain[kind]))
                for address, waits in sides if number % 2 else sides[::-1]:
                    await _walk(address, server.url, question, goal, waits)
    without = compare("without a goal", ahead[1].seconds, plain[1].seconds, unit="s")
    parts = {
        "pages": dict(ahead[0].cached),
        "without_goal": {"ratio": without.ratio, "interval": list(without.interval), "pages": dict(ahead[1].cached)},
        "think_s": THINK_SECONDS,
        "time_scale": TIME_SCALE,
    }
    return compare("mcp", ahead[0].seconds, plain[0].seconds, unit="s waited for a walk's pages", parts=parts)


@asynccontextmanager
async def _serving(url: str, *words: str) -> AsyncIterator[str]:
    """Run a server of its own process; gives its address. Browsers and the ranker's model are started already."""
    command = [sys.executable, "-c", _START, "mcp", "--http", "--port", "0", "--url", url, *words]
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    assert process.stderr is not None  # noqa: S101 - tells the type checker
    try:
        address = (await process.stderr.readline()).decode().split()[-1]
        async with Client(address) as client:
            await _call(client, "open", url=url, goal="anything")
            await client.call_tool("status", {"wait": True})
        yield address
    finally:
        process.terminate()
        await process.communicate()


async def _walk(address: str, base: str, question: Question, goal: str, waits: _Waits) -> None:
    """Walk in a session of its own, so that no page is known from an earlier walk."""
    waited_seconds = 0.0
    async with Client(address) as client:
        page = await _call(client, "open", url=base + question.root_path, goal=goal)
        for path in question.golden_path:
            number = next(link["number"] for link in page["links"] if link["url"] == base + path)
            await asyncio.sleep(THINK_SECONDS)
            started_seconds = time.perf_counter()
            page = await _call(client, "follow", link=str(number))
            waited_seconds += time.perf_counter() - started_seconds
            waits.cached[page["cache"]] += 1
    waits.seconds.append(waited_seconds)


async def _call(client: Client, tool: str, **arguments: str) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    if answer.is_error or answer.structured_content["problem"]:
        raise RuntimeError(f"{tool} {arguments} gave {answer.content}")
    page: dict[str, Any] = answer.structured_content
    return page
