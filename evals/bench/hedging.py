"""Calls to a model with hedging against the same calls without, side by side at a local endpoint as slow as published.

The latency is drawn from what was published of Llama-3.1-405B (arXiv 2510.16276): never below 6.50 s, 9.8 s in the
median, and 449.89 s once in five days of hourly calls, 120 in all. More was not published, so the rest is a choice: a
power law above 6.50 s, as waiting in queues has such tails, through the other two figures:
P(latency > 6.50 + x) = 0.5 * (x / 3.30) ** -0.836, which begins at 7.9 s and is cut off at 449.89 s.
(A log-normal above 6.50 s through the same two has a thicker shoulder, and hedging cuts its 99th percentile about 3
times.) Each side is served the quantiles of this curve in a random order of its own, so that the 99th percentile
without hedging is that of the curve. Second requests are as likely to be slow as first ones.

What is to be expected follows in `agent.models.hedging`: a delay of p92 = 36 s, 8 % more requests, and a 99th
percentile of at most p92 + p87.5 = 60 s in place of 363 s.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from aiohttp import web
from numpy.typing import NDArray

from agent.events import CallKind
from agent.models.call_account import CallAccount, RoleAccount
from agent.models.call_log import CallLog
from agent.models.chat import Chat
from agent.models.hedged_model import HedgedModel
from agent.models.hedging import Hedging
from agent.models.metered_model import MeteredModel
from agent.models.model import CallLimits, ChatModel
from agent.models.reply import Message
from agent.target import Usage
from evals.bench.result import Result

TIME_SCALE = 0.05
MINIMUM_SECONDS, MEDIAN_SECONDS, MAXIMUM_SECONDS = 6.50, 9.8, 449.89
SAMPLES = 120
"""Hourly calls in five days, one of which took the maximum."""
SHARE = 0.1
WORKERS = 32
"""Calls of each side at once."""
_PERCENTILES = (50, 95, 99)
_RESAMPLES = 1000
_ASK = [Message(role="user", content="Tell a story about an apple, in at least 256 tokens.")]
_USAGE = {"prompt_tokens": 16, "completion_tokens": 256, "total_tokens": 272}


async def hedging(*, calls: int) -> Result:
    """Make `calls` calls on each side, all at once as far as each side's workers allow."""
    async with _endpoint(calls) as endpoint, asyncio.TaskGroup() as group:
        sides = {name: group.create_task(_side(endpoint, name, calls=calls)) for name in ("hedged", "plain")}
    hedged, plain = sides["hedged"].result(), sides["plain"].result()
    for name, side in (("hedged", hedged), ("plain", plain)):
        # One that is given up while it connects is told, but may never arrive.
        if side.account.requests < endpoint.received[name]:
            raise RuntimeError(f"{endpoint.received[name]} requests arrived, and only {side.account.requests} are told")
    ratio = _p99(hedged.seconds) / _p99(plain.seconds)
    return Result(
        name="hedging",
        ratio=round(ratio, 4),
        interval=_interval(hedged.seconds, plain.seconds),
        n=calls,
        unit="99th percentile of a call's time, hedged to unhedged",
        parts={
            "p99_cut": round(1 / ratio, 2),
            "seconds": hedged.percentiles(),
            "seconds_unhedged": plain.percentiles(),
            "extra_requests": round(hedged.account.requests / calls - 1, 4),
            "second_answered_first": hedged.account.counts[CallKind.SECOND],
            "tokens": _total(hedged.account.usage),
            "tokens_of_losers": _total(hedged.account.dropped_usage),
            "tokens_unhedged": _total(plain.account.usage),
            "time_scale": TIME_SCALE,
        },
    )


def published_seconds(share: float) -> float:
    """Return the latency that this share of calls stays below, by the curve above."""
    spread_seconds = MEDIAN_SECONDS - MINIMUM_SECONDS
    exponent = np.log((MAXIMUM_SECONDS - MINIMUM_SECONDS) / spread_seconds) / np.log(0.5 * SAMPLES)
    return float(min(MAXIMUM_SECONDS, MINIMUM_SECONDS + spread_seconds * (0.5 / (1 - share)) ** exponent))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """How long the calls of one side took, in seconds as published, and what they cost."""

    seconds: NDArray[np.float64]
    account: RoleAccount

    def percentiles(self) -> dict[str, float]:
        values = np.percentile(self.seconds, _PERCENTILES)
        return {f"p{name}": round(float(value), 1) for name, value in zip(_PERCENTILES, values, strict=True)}


async def _side(endpoint: _Endpoint, name: str, *, calls: int) -> _Side:
    account = CallAccount()
    log = CallLog(account, role=name, model=name)
    client = ChatModel(name, base_url=endpoint.url, limits=CallLimits(total_seconds=600 * TIME_SCALE))
    model: Chat = MeteredModel(client, log)
    if name == "hedged":
        model = HedgedModel(model, Hedging(share=SHARE, start_seconds=30 * TIME_SCALE), log)
    todo, seconds = iter(range(calls)), []

    async def work() -> None:
        for _ in todo:
            started_seconds = time.perf_counter()
            await model.complete(_ASK)
            seconds.append((time.perf_counter() - started_seconds) / TIME_SCALE)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(WORKERS):
                group.create_task(work())
    finally:
        await client.aclose()
    return _Side(seconds=np.array(seconds), account=account.roles[name])


@dataclass(slots=True)
class _Endpoint:
    """Answers each side's requests after that side's next latency."""

    latencies: dict[str, Iterator[float]]
    received: dict[str, int] = field(default_factory=lambda: {"hedged": 0, "plain": 0})
    url: str = ""

    async def answer(self, request: web.Request) -> web.Response:
        name = (await request.json())["model"]
        self.received[name] += 1
        await asyncio.sleep(next(self.latencies[name]) * TIME_SCALE)
        message = {"role": "assistant", "content": "Once upon a time."}
        choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": "stop"}
        return web.json_response({"id": "1", "model": name, "choices": [choice], "usage": _USAGE})


@asynccontextmanager
async def _endpoint(calls: int) -> AsyncIterator[_Endpoint]:
    quantiles = [published_seconds((rank + 0.5) / calls) for rank in range(calls)]
    endpoint = _Endpoint({name: _shuffled(quantiles, seed) for seed, name in enumerate(("hedged", "plain"))})
    app = web.Application()
    app.router.add_post("/v1/chat/completions", endpoint.answer)
    # A request that was given up is not answered any more, as inference servers do it.
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        endpoint.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        yield endpoint
    finally:
        await runner.cleanup()


def _shuffled(quantiles: Sequence[float], seed: int) -> Iterator[float]:
    """Give the quantiles in a random order, then in others."""
    random = np.random.default_rng(seed)
    while True:
        yield from random.permutation(quantiles).tolist()


def _total(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens


def _p99(seconds: NDArray[np.float64]) -> float:
    return float(np.percentile(seconds, 99))


def _interval(hedged: NDArray[np.float64], plain: NDArray[np.float64]) -> tuple[float, float]:
    """Return where 95 % of the ratios lie when the calls of each side are resampled."""
    random = np.random.default_rng(0)
    ratios = [
        _p99(random.choice(hedged, len(hedged))) / _p99(random.choice(plain, len(plain))) for _ in range(_RESAMPLES)
    ]
    low, high = np.percentile(ratios, [2.5, 97.5])
    return round(float(low), 4), round(float(high), 4)
