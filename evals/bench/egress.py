"""Page loads through the egress proxy against direct ones, in one browser; and how fast bytes pass it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from itertools import cycle

import aiohttp
import numpy as np
from aiohttp import web

from browser.egress.proxy import EgressProxy
from browser.egress.rule import EgressRule
from browser.page import INIT_SCRIPT, load
from browser.pool import BrowserPool, PoolOptions
from evals.bench.result import Result, compare
from evals.site import LatencyModel, SiteServer, build_site

_HOST = "127.0.0.1"
_MEBIBYTE = bytes(1024 * 1024)
_DOWNLOAD_MEBIBYTES = 64
_DOWNLOADS = 5
_CONNECTIONS = 100

Load = Callable[[str], Awaitable[None]]


async def egress(*, pairs: int) -> Result:
    """Measure `pairs` pairs of loads of one page each, the two ways by turns the first."""
    site = build_site()
    paths = [path for path in site.pages if path.startswith("/en/") and "#" not in path]
    rule = EgressRule()
    rule.allow([_HOST])
    async with (
        EgressProxy(rule) as proxy,
        SiteServer(site, latency=LatencyModel(time_scale=0)) as server,
        BrowserPool(PoolOptions(speculation_slots=0)) as pool,
        _reader(pool, proxy, direct=False) as ours,
        _reader(pool, proxy, direct=True) as other,
    ):
        urls = cycle(server.url + path for path in paths)
        used: list[int] = []
        for load_page in (ours, other):
            await _seconds(load_page, next(urls))  # the first load of all is slower, either way
            used.append(proxy.statistics().dialled)
        if not 0 < used[0] == used[1]:
            raise RuntimeError(f"not one of the two goes through the proxy, and one directly: {used}")
        through, direct = [], []
        for number, url in zip(range(pairs), urls, strict=False):
            if number % 2:
                direct.append(await _seconds(other, url))
            through.append(await _seconds(ours, url))
            if not number % 2:
                direct.append(await _seconds(other, url))
        parts = await _traffic(proxy)
    return compare("egress", through, direct, unit="s a page load on loopback through the proxy", parts=parts)


@asynccontextmanager
async def _reader(pool: BrowserPool, proxy: EgressProxy, *, direct: bool) -> AsyncIterator[Load]:
    """Open a page that loads through the proxy, or is told to go round it for this benchmark's host."""
    slot = await pool.foreground()
    browser = slot.context.browser
    assert browser is not None  # noqa: S101 - a launched browser's context has one; tells the type checker
    bypass = _HOST if direct else ""
    context = await browser.new_context(proxy={"server": proxy.url, "bypass": bypass}, service_workers="block")
    await context.add_init_script(INIT_SCRIPT)
    page = await context.new_page()

    async def load_page(url: str) -> None:
        document = await load(page, url)
        if document.problem is not None:
            raise RuntimeError(document.problem)

    try:
        yield load_page
    finally:
        await context.close()
        await pool.discard(slot)


async def _seconds(load_page: Load, url: str) -> float:
    started_seconds = time.perf_counter()
    await load_page(url)
    return time.perf_counter() - started_seconds


async def _traffic(proxy: EgressProxy) -> dict[str, float]:
    """Measure new connections and downloads, by turns through the proxy and directly, all on this one event loop."""
    connector = aiohttp.TCPConnector(force_close=True)
    async with _sender() as url, aiohttp.ClientSession(connector=connector) as session:
        ways = {"": partial(_fetch, session, proxy=proxy.url), "_direct": partial(_fetch, session, proxy=None)}
        short = await _alternate(ways, url, rounds=_CONNECTIONS)
        long = await _alternate(ways, f"{url}?mebibytes={_DOWNLOAD_MEBIBYTES}", rounds=_DOWNLOADS)
    connections = {f"milliseconds_a_new_connection{way}": round(1000 * seconds, 2) for way, seconds in short.items()}
    rates = {f"mebibytes_a_second{way}": round(_DOWNLOAD_MEBIBYTES / seconds, 1) for way, seconds in long.items()}
    return connections | rates


@asynccontextmanager
async def _sender() -> AsyncIterator[str]:
    runner = web.ServerRunner(web.Server(_send))
    await runner.setup()
    try:
        await web.TCPSite(runner, _HOST, 0).start()
        yield f"http://{_HOST}:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()


async def _alternate(ways: Mapping[str, Load], url: str, *, rounds: int) -> dict[str, float]:
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, fetch in ways.items():
            seconds[way].append(await _seconds(fetch, url))
    return {way: float(np.median(spent)) for way, spent in seconds.items()}


async def _fetch(session: aiohttp.ClientSession, url: str, *, proxy: str | None) -> None:
    async with session.get(url, proxy=proxy) as response:
        response.raise_for_status()
        async for _ in response.content.iter_any():
            pass


async def _send(request: web.BaseRequest) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(int(request.query.get("mebibytes", 0))):
        await response.write(_MEBIBYTE)
    return response
