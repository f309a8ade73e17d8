"""Asking a shared cache once what it is, to learn whether it is fit for its work.

Invariant: nothing there is changed.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from statistics import median
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError

from browser.shared_cache.address import CacheAddress
from browser.shared_cache.link import CacheAway
from browser.shared_cache.scripts import RELEASE

_ANSWERS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheProbe:
    """What a server said.

    Attributes:
        product: What it is, with its version; empty where it does not tell.
        answer_seconds: How long an answer takes.
        policy: What it drops when it is full, by its own name (`maxmemory-policy`); empty where it does not tell.
        max_bytes: What it may hold; 0: anything; None: it does not tell.
        used_bytes: What it holds.
    """

    product: str = ""
    answer_seconds: float
    policy: str = ""
    max_bytes: int | None = None
    used_bytes: int = 0


async def probe_cache(address: CacheAddress, *, seconds: float = 5.0) -> CacheProbe:
    """Ask a server what pages are asked for with, and what it is.

    Args:
        address: Where it is.
        seconds: How long all of that may take.

    Raises:
        CacheAway: It cannot be used; the message holds no credentials.
    """
    client = Redis.from_url(
        address.url, protocol=2, retry=Retry(NoBackoff(), 0), socket_timeout=None, socket_connect_timeout=None
    )
    try:
        async with asyncio.timeout(seconds):
            return await _asked(client)
    except TimeoutError as error:
        raise CacheAway(f"no answer within {seconds:g} s") from error
    except (RedisError, OSError) as error:
        raise CacheAway(address.masked(str(error) or type(error).__name__)) from error
    finally:
        with suppress(RedisError, OSError):
            async with asyncio.timeout(seconds):
                await client.aclose()


async def _asked(client: Redis) -> CacheProbe:
    release = client.register_script(RELEASE)
    nobody = secrets.token_hex(16)  # whose lease it is not, so that there is nothing to release
    taken_seconds = []
    for _ in range(_ANSWERS):
        asked_seconds = time.perf_counter()
        await release(("speccache:1:lease:none",), (nobody, 0))
        await client.getrange("speccache:1:page:none", 0, 0)  # which users of few rights may lack
        taken_seconds.append(time.perf_counter() - asked_seconds)
    about: dict[str, Any] = {}
    with suppress(ResponseError):  # managed servers may keep it to themselves
        about = await client.info()
    valkey, redis = about.get("valkey_version"), about.get("redis_version")
    return CacheProbe(
        product=f"Valkey {valkey}" if valkey else f"Redis {redis}" if redis else "",
        answer_seconds=median(taken_seconds),
        policy=str(about.get("maxmemory_policy", "")),
        max_bytes=about.get("maxmemory"),
        used_bytes=about.get("used_memory", 0),
    )
