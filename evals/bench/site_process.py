"""A site served by a process of its own, each request late by the same time; `serving()` starts and ends one.

Invariant: what the measured programs do with their event loops does not slow the site down, and the site does not
slow down theirs. Scripts and styles may be cached, documents and data are asked for each time, as common hosts have it.
"""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentParser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from evals.folder_server import serve_folder
from evals.site import LatencyModel, SiteServer, build_site

_CACHEABLE = ("text/javascript", "application/javascript", "text/css")
_END_SECONDS = 5.0


@asynccontextmanager
async def serving(folder: Path | None, *, delay_seconds: float) -> AsyncIterator[str]:
    """Serve a folder, or the bundled site where it is None, while the block runs; gives its address without a path."""
    words = ["-m", "evals.bench.site_process", "--delay", str(delay_seconds)]
    if folder is not None:
        words += ["--folder", str(folder)]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, *words, stdin=pipe, stdout=pipe)
    assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018 - tells the type checker
    try:
        yield (await process.stdout.readline()).decode().strip()
    finally:
        try:
            async with asyncio.timeout(_END_SECONDS):
                process.stdin.close()
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


class _LateSite(SiteServer):
    """The bundled site, each of whose answers comes late."""

    def __init__(self, delay: Middleware) -> None:
        super().__init__(build_site(), latency=LatencyModel(time_scale=0))
        self._delay = delay

    def _application(self) -> web.Application:
        application = super()._application()
        application.middlewares.append(self._delay)
        return application


def _late(delay_seconds: float) -> Middleware:
    @web.middleware
    async def answer(request: web.Request, handler: Handler) -> web.StreamResponse:
        await asyncio.sleep(delay_seconds)
        response = await handler(request)
        cached = response.content_type in _CACHEABLE
        response.headers["Cache-Control"] = "public, max-age=3600" if cached else "no-cache"
        return response

    return answer


async def _serve(folder: Path | None, delay_seconds: float) -> None:
    delay = _late(delay_seconds)
    if folder is None:
        async with _LateSite(delay) as server:
            await _announce(server.url)
    else:
        async with serve_folder(folder, middlewares=[delay]) as url:
            await _announce(url)


async def _announce(url: str) -> None:
    """Print the address, and stay until whoever started this process closes its input, or is gone."""
    print(url, flush=True)  # noqa: T201 - what the other process reads
    await asyncio.to_thread(sys.stdin.read)


def main() -> None:
    """Serve a site on loopback until the standard input ends."""
    parser = ArgumentParser()
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--folder", type=Path)
    words = parser.parse_args()
    asyncio.run(_serve(words.folder, words.delay))


if __name__ == "__main__":
    main()
