"""A scripted MCP client that walks the bundled site: how long it waits for pages, with loading ahead and without.

Invariant: all servers are asked for the same pages by the same client, by the same tools, and it thinks as long before
each. It has a page once the link that it follows next is shown or, at the end, the answer; until then it looks again at
once, which is kinder than a model that would think in between.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

from mcp import Client, StdioServerParameters

from evals.bench.mcp_page import ShownPage, shown_page
from evals.bench.result import Result, compare
from evals.site import LatencyModel, Question, SiteServer, build_site

TIME_SCALE = 0.1
THINK_SECONDS = 1.0
_PATIENCE_SECONDS = 30.0
_START = "from agent.cli import main; main()"
_UNIT = "s waited for a walk's pages"

Connect = Callable[[], AbstractAsyncContextManager[Client]]
"""Begins a session in which no page is known from an earlier one."""


@dataclass(slots=True, kw_only=True)
class _Side:
    """A server, and what the walks with it took.

    Attributes:
        connect: Gives a client of it.
        says_goal: Whether that client says what it is after.
        seconds: For each walk how long it waited for its pages, less the first, which nobody can guess.
        characters: For each page how much a model is given of it.
        looks: How often it had to look again at a page.
        cached: How the cache had the pages.
    """

    connect: Connect
    says_goal: bool = False
    seconds: list[float] = field(default_factory=list)
    characters: list[int] = field(default_factory=list)
    looks: int = 0
    cached: Counter[str] = field(default_factory=Counter)

    def as_json(self) -> dict[str, Any]:
        """Return its figures."""
        return {
            "waited_s_a_page": round(sum(self.seconds) / len(self.characters), 3),
            "characters_a_page": round(mean(self.characters)),
            "looks_again_a_page": round(self.looks / len(self.characters), 2),
            "pages": dict(self.cached),
        }


async def mcp_client(*, pairs: int, against: str = "") -> Result:
    """Walk `pairs` gold paths with each server, in turn.

    Each is walked by a client that says what it is after, the question, by one of which its history alone tells, with
    nothing loaded ahead, and with the other server. The ratio is that of the first over the last of these.

    Args:
        pairs: How many paths.
        against: The command of a server with Playwright MCP's tools; empty: the ratio is over nothing loaded ahead.
    """
    site = build_site()
    questions = [question for question in site.questions if question.hops >= 2]
    async with (
        SiteServer(site, latency=LatencyModel(time_scale=TIME_SCALE)) as server,
        AsyncExitStack() as stack,
    ):
        ahead = await stack.enter_async_context(_serving(server.url))
        plain = await stack.enter_async_context(_serving(server.url, "--no-speculation"))
        sides = {
            "with_goal": _Side(connect=ahead, says_goal=True),
            "without_goal": _Side(connect=ahead),
            "nothing_ahead": _Side(connect=plain),
        }
        if against:
            sides["other"] = _Side(connect=await stack.enter_async_context(_other(against, server.url)))
        for number in range(pairs):
            turns = list(sides.values())
            for side in (*turns[number % len(turns) :], *turns[: number % len(turns)]):
                await _walk(side, server.url, questions[number % len(questions)])
    return _compared(sides, against="other" if against else "nothing_ahead")


def _compared(sides: dict[str, _Side], *, against: str) -> Result:
    other, parts = sides[against], {name: side.as_json() for name, side in sides.items()}
    for name, side in sides.items():
        if side is not other:
            found = compare(name, side.seconds, other.seconds, unit=_UNIT)
            parts[name] |= {"ratio": found.ratio, "interval": list(found.interval)}
    settings = {"think_s": THINK_SECONDS, "time_scale": TIME_SCALE}
    return compare("mcp", sides["with_goal"].seconds, other.seconds, unit=_UNIT, parts=parts | settings)


@asynccontextmanager
async def _serving(url: str, *words: str) -> AsyncIterator[Connect]:
    """Run a server in a process of its own. Browsers and the ranker's model are started already."""
    served = ("mcp", "--http", "--port", "0", "--playwright-names", "--url", url)
    command = [sys.executable, "-c", _START, *served, *words]
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    assert process.stderr is not None  # noqa: S101 - tells the type checker
    try:
        address = (await process.stderr.readline()).decode().split()[-1]
        async with Client(address) as client:
            await _call(client, "browser_navigate", url=url, goal="anything")
            await client.call_tool("status", {"wait": True})
        yield lambda: Client(address)
    finally:
        process.terminate()
        await process.communicate()


@asynccontextmanager
async def _other(command: str, url: str) -> AsyncIterator[Connect]:
    """Run another server over standard streams; its browser forgets a walk when it is closed."""
    program, *words = shlex.split(command)

    @asynccontextmanager
    async def session() -> AsyncIterator[Client]:
        yield client
        await client.call_tool("browser_close", {})

    with TemporaryDirectory() as folder:  # Playwright MCP writes what it has shown to where it is started
        async with Client(StdioServerParameters(command=program, args=words, cwd=folder)) as client:
            async with session():
                await _call(client, "browser_navigate", url=url)
            yield session


async def _walk(side: _Side, base: str, question: Question) -> None:
    addresses = [base + path for path in (question.root_path, *question.golden_path)]
    goal = {"goal": question.question} if side.says_goal else {}
    waited_seconds = 0.0
    async with side.connect() as client:
        page = await _call(client, "browser_navigate", url=addresses[0], **goal)
        page = await _look_until(client, page, _Wanted(url=addresses[0], link=addresses[1]), None)
        for address, following in zip(addresses[1:], [*addresses[2:], ""], strict=True):
            wanted = _Wanted(url=address, link=following, words=() if following else question.answer_tokens)
            await asyncio.sleep(THINK_SECONDS)
            started_seconds = time.perf_counter()
            page = await _call(client, "browser_click", element="the next link", target=page.targets[address])
            side.cached.update([page.cached] if page.cached else [])
            page = await _look_until(client, page, wanted, side)
            waited_seconds += time.perf_counter() - started_seconds
            side.characters.append(len(page.text))
    side.seconds.append(waited_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What a client needs of a page: the link that it follows next, or the answer."""

    url: str
    link: str = ""
    words: Sequence[str] = ()

    def is_on(self, page: ShownPage) -> bool:
        return page.url == self.url and (not self.link or self.link in page.targets) and page.says(self.words)


async def _look_until(client: Client, page: ShownPage, wanted: _Wanted, side: _Side | None) -> ShownPage:
    """Look again until what is wanted is shown."""
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while not wanted.is_on(page):
            page = await _call(client, "browser_snapshot")
            if side is not None:
                side.looks += 1
    return page


async def _call(client: Client, tool: str, **arguments: str) -> ShownPage:
    answer = await client.call_tool(tool, arguments)
    if answer.is_error:
        raise RuntimeError(f"{tool} {arguments} gave {answer.content}")
    return shown_page(answer) or await _call(client, "browser_snapshot")
