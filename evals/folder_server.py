"""Serves a folder of files as a web site on loopback, as common static hosts do.

Invariant: nothing outside the folder is served.
"""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Middleware

# Types that not every system's table knows, and without which modules and frames do not load.
_TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".json": "application/json", ".md": "text/markdown"}


@asynccontextmanager
async def serve_folder(folder: Path, *, middlewares: Sequence[Middleware] = ()) -> AsyncIterator[str]:
    """Serve a folder while the block runs; gives the site's address, without a slash at its end.

    A path without a file behind it is tried with `.html` at its end, a folder with `index.html` in it.
    """

    async def answer(request: web.Request) -> web.StreamResponse:
        file = await asyncio.to_thread(_find, folder, request.path)
        if file is None:
            raise web.HTTPNotFound
        kind = _TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        return web.FileResponse(file, headers={"Content-Type": kind})

    application = web.Application(middlewares=middlewares)
    application.router.add_get("/{path:.*}", answer)
    # A browser that gives up a load ends its handler, and so what a middleware waits for.
    runner = web.AppRunner(application, access_log=None, handler_cancellation=True, shutdown_timeout=0.2)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def _find(folder: Path, path: str) -> Path | None:
    root = folder.resolve()
    wanted = (root / path.lstrip("/")).resolve()
    candidates = (wanted, wanted / "index.html", wanted.with_name(f"{wanted.name}.html"))
    return next((file for file in candidates if file.is_relative_to(root) and file.is_file()), None)
