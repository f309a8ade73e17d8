"""A web site on loopback whose pages a test writes down itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(slots=True)
class Page:
    """One address of a site, and what it answers.

    Attributes:
        delay_seconds: How slow this site is to answer.
        gate: The answer waits for it.
        requested: Set when the first request has come.
    """

    body: bytes
    headers: Mapping[str, str]
    status: int
    delay_seconds: float
    gate: asyncio.Event
    requested: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, _: web.Request) -> web.StreamResponse:
        self.requested.set()
        await asyncio.sleep(self.delay_seconds)
        await self.gate.wait()
        return web.Response(body=self.body, status=self.status, headers=self.headers)


class Site:
    """Answers with what was put there, else with 404; keeps a log of the paths asked for."""

    def __init__(self) -> None:
        self.origin = ""
        self.other_origin = ""
        self.log: list[str] = []
        self._answers: dict[str, Answer] = {}

    def put(
        self,
        path: str,
        body: str | bytes,
        *,
        content_type: str = "text/html; charset=utf-8",
        status: int = 200,
        delay_seconds: float = 0.0,
        headers: Mapping[str, str] | None = None,
        held: bool = False,
    ) -> Page:
        gate = asyncio.Event()
        if not held:
            gate.set()
        page = Page(
            body=body.encode() if isinstance(body, str) else body,
            headers={"Content-Type": content_type, **(headers or {})},
            status=status,
            delay_seconds=delay_seconds,
            gate=gate,
        )
        self.put_answer(path, page.answer)
        return page

    def put_answer(self, path: str, answer: Answer) -> None:
        self._answers[path] = answer

    def put_stream(self, path: str, *, pieces: int, delay_seconds: float) -> None:
        """Answer piece by piece."""

        async def answer(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse()
            await response.prepare(request)
            for _ in range(pieces):
                await response.write(b"piece")
                await asyncio.sleep(delay_seconds)
            return response

        self.put_answer(path, answer)

    def url(self, path: str) -> str:
        return self.origin + path

    def other_url(self, path: str) -> str:
        """The same page under another origin."""
        return self.other_origin + path

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.log.append(request.path_qs)
        answer = self._answers.get(request.path)
        return await answer(request) if answer else web.Response(status=404, text="There is no such page.")

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Site]:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        listener = web.TCPSite(runner, "127.0.0.1", 0)
        await listener.start()
        port = runner.addresses[0][1]
        self.origin, self.other_origin = f"http://127.0.0.1:{port}", f"http://localhost:{port}"
        try:
            yield self
        finally:
            await runner.cleanup()
