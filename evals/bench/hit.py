"""A step whose page was loaded ahead, against the same step without speculation."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence

from browser.action import Action, Visit
from browser.environment import WebEnvironment
from browser.observation import Observation
from browser.pool import BrowserPool, PoolOptions
from evals.bench.result import Result, compare
from evals.site import LatencyModel, SiteServer, build_site
from speccache import Event, EventKind, SpeculativeEnvironment, Step
from speccache.predictor import Guess

TIME_SCALE = 0.05


class _Foreseeing:
    """A predictor that knows the next step: here only the cost of a hit is measured, not how often there is one."""

    name = "foreseeing"

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = urls

    async def predict(self, trajectory: Sequence[Step[Action, Observation]], /) -> AsyncIterator[Guess[Action]]:
        """Yield the next address."""
        if len(trajectory) < len(self._urls):
            yield Guess(action=Visit(self._urls[len(trajectory)]), predictor=self.name, rank=1)


async def hit(*, pairs: int) -> Result:
    """Visit `pairs` pages in one session that has each page ready, and in one without speculation, in turn."""
    site = build_site()
    paths = [path for path in site.pages if path.startswith("/en/") and "#" not in path][: pairs + 1]
    ready = asyncio.Event()

    def listen(event: Event) -> None:
        if event.kind in (EventKind.LOAD, EventKind.REFUSE, EventKind.FAIL):
            ready.set()

    hits, loads = [], []
    async with (
        SiteServer(site, latency=LatencyModel(time_scale=TIME_SCALE)) as server,
        BrowserPool(PoolOptions(speculation_slots=1)) as pool,
    ):
        urls = [server.url + path for path in paths]
        plain = WebEnvironment(pool, named_hosts={"127.0.0.1"})
        walked = WebEnvironment(pool, named_hosts={"127.0.0.1"})
        ahead = SpeculativeEnvironment(walked, predictors=[_Foreseeing(urls)], listener=listen)
        for number, url in enumerate(urls):
            loads.append(await _seconds(plain, url))
            if number:
                await ready.wait()
            ready.clear()
            hits.append(await _seconds(ahead, url))
        await ahead.aclose()
        await plain.aclose()
    return compare("hit", hits[1:], loads[1:], unit="s a step", parts={"time_scale": TIME_SCALE})


async def _seconds(environment: WebEnvironment | SpeculativeEnvironment[Action, Observation], url: str) -> float:
    started_seconds = time.perf_counter()
    await environment.step(Visit(url))
    return time.perf_counter() - started_seconds
