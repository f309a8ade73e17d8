"""Suites over real sites that lie in folders, served on loopback as slowly as the live web was measured to be.

Invariant: for how long a request waits depends on the questions and on the request alone. A page takes as long as
`evals.site.latency` says, whether the browser has seen it before or not; scripts, styles and pictures take no time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from yarl import URL

from browser.address import is_route
from evals.folder_server import serve_folder
from evals.site.latency import LatencyModel
from evals.suites.errors import SiteMissing
from evals.suites.item import Item
from evals.suites.suite import Addresses, Suite

Sleep = Callable[[float], Awaitable[object]]

_DOCUMENTS = frozenset({"document", "frame", "iframe"})
_DATA = "empty"  # what `fetch` and `XMLHttpRequest` say they are for


def folder_suite(items: Sequence[Item], sites: Path, *, name: str, sleep: Sleep = asyncio.sleep) -> Suite:
    """Make a suite of questions about sites that lie in folders.

    Args:
        items: The questions; the site of each is the folder of that name.
        sites: The folder with one folder for each site.
        name: How reports call the suite.
        sleep: What a delayed request waits with.

    Raises:
        SiteMissing: A site's folder is missing, or a question names no site.
    """
    by_site: dict[str, list[Item]] = {}
    for item in items:
        by_site.setdefault(item.site, []).append(item)
    _check(by_site, sites)

    @asynccontextmanager
    async def serve(time_scale: float) -> AsyncIterator[Addresses]:
        async with AsyncExitStack() as stack:
            addresses = {}
            for site, asked in by_site.items():
                delay = _delay(asked, time_scale=time_scale, sleep=sleep)
                addresses[site] = await stack.enter_async_context(serve_folder(sites / site, middlewares=[delay]))
            yield addresses

    return Suite(name=name, items=tuple(items), serve=serve)


def _check(by_site: dict[str, list[Item]], sites: Path) -> None:
    if nameless := by_site.get(""):
        raise SiteMissing(f"question {nameless[0].id} names no site", hint='Give it one: "site": "NAME".')
    missing = sorted(site for site in by_site if not (sites / site).is_dir())
    if missing:
        affected = sum(len(by_site[site]) for site in missing)
        raise SiteMissing(
            f"{sites} has no folder {', '.join(missing)}, which {affected} of {sum(map(len, by_site.values()))}"
            " questions are about",
            hint=f"Put each site's files, as its web server has them, into a folder of its name, such as"
            f" {sites / missing[0]}, or name the folder that has them.",
        )


def _delay(items: Sequence[Item], *, time_scale: float, sleep: Sleep) -> Middleware:
    """Return what delays the requests for one site.

    A page of a site with hash routes takes part of its time for its document and the rest for its data, else all of it
    for its document.
    """
    latency = LatencyModel(time_scale=time_scale, roots=frozenset(_path(item.url) for item in items))
    has_routes = any(map(_has_routes, items))

    @web.middleware
    async def delay(request: web.Request, handler: Handler) -> web.StreamResponse:
        path, kind = _path(str(request.rel_url)), request.headers.get("Sec-Fetch-Dest")
        if kind in _DOCUMENTS:
            seconds = latency.document_seconds(path) if has_routes else latency.page_seconds(path)
        elif kind == _DATA and has_routes:
            seconds = latency.data_seconds(path, document=_path(request.headers.get("Referer", "/")))
        else:
            return await handler(request)
        await sleep(seconds)
        response = await handler(request)
        # A copy in a browser's cache would take no time, and which browser has one depends on what was loaded ahead.
        response.headers["Cache-Control"] = "no-cache"
        return response

    return delay


def _path(url: str) -> str:
    """Return path and query of an address or a path, as a browser sends them."""
    parsed = URL(url).with_fragment(None)
    return str(parsed.relative() if parsed.absolute else parsed)


def _has_routes(item: Item) -> bool:
    steps = (item.url, *item.sources, *(step for way in item.golden for step in way))
    return any(is_route(step.partition("#")[2]) for step in steps)
