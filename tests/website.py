"""A real web server on loopback with the pages a test gives it, and a log of what was asked of it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from aiohttp import web

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request that arrived."""

    method: str
    path: str
    headers: Mapping[str, str]


@dataclass(slots=True)
class Website:
    """Serves `pages` (path → HTML, or a function of the request); anything else is a 404.

    A path in `gates` is answered only once its event is set; `arrived(path)` waits until it is asked for.
    """

    pages: Mapping[str, str | Answer]
    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    url: str = ""
    _runner: web.AppRunner | None = None
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    def count(self, path: str) -> int:
        """How often a path was asked for."""
        return Counter(asked.path for asked in self.asked)[path]

    def shut(self, path: str) -> asyncio.Event:
        """Hold back every answer for a path until the returned event is set."""
        return self.gates.setdefault(path, asyncio.Event())

    async def arrived(self, path: str, *, count: int = 1) -> None:
        """Wait until a path has been asked for this often."""
        async with self._news:
            await self._news.wait_for(lambda: self.count(path) >= count)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        async with self._news:
            self.asked.append(Asked(method=request.method, path=request.path_qs, headers=dict(request.headers)))
            self._news.notify_all()
        if request.path_qs in self.gates:
            await self.gates[request.path_qs].wait()
        page = self.pages.get(request.path_qs, self.pages.get(request.path))
        if page is None:
            return web.Response(status=404, text="<h1>Not found</h1>", content_type="text/html")
        if isinstance(page, str):
            return web.Response(text=page, content_type="text/html")
        return await page(request)

    async def __aenter__(self) -> Self:
        application = web.Application()
        application.router.add_route("*", "/{tail:.*}", self._answer)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        listener = web.TCPSite(self._runner, "127.0.0.1", 0)
        await listener.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        for gate in self.gates.values():
            gate.set()
        assert self._runner is not None
        await self._runner.cleanup()
