"""Whether the shared cache that is configured is fit for its work.

Invariant: as in `agent.doctor`, of which it is a part. Runs go on without a shared cache, so what is wrong with it is a
warning, unless it is this machine that cannot use any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.check import Check, size_text
from browser.shared_cache.address import CacheAddress, parse_cache_address

if TYPE_CHECKING:
    from browser.shared_cache.probe import CacheProbe

_SLOW_SECONDS = 0.05
"""Half of what a page's answer is waited for."""


async def check_shared_cache(url: str) -> Check:
    """Check that it answers, how fast, and what it does when it is full."""
    try:
        from browser.shared_cache.link import CacheAway  # noqa: PLC0415 - needs the extra `redis`
        from browser.shared_cache.probe import probe_cache  # noqa: PLC0415 - likewise
    except ImportError as error:
        hint = "run: pip install 'speccache[redis]'"
        return Check(name="shared cache", status="fail", detail=f"the package {error.name} is missing", hint=hint)
    address = parse_cache_address(url)
    try:
        shown = await probe_cache(address)
    except CacheAway as away:
        hint = "check the address, the password and what the user may do; until then pages are loaded without it"
        return Check(name="shared cache", status="warn", detail=f"{address} cannot be used: {away}", hint=hint)
    return _judged(address, shown)


def _judged(address: CacheAddress, shown: CacheProbe) -> Check:
    detail = ", ".join(filter(None, (f"{address}: {shown.product or 'a server'}", _answer(shown), _room(shown))))
    hint = ""
    if shown.answer_seconds > _SLOW_SECONDS:
        hint = "bring it nearer to the workers: slow answers are not waited for"
    elif shown.max_bytes == 0:
        hint = "set maxmemory 1gb and maxmemory-policy allkeys-lru: its memory has no bound"
    elif shown.max_bytes and shown.policy == "noeviction":
        hint = "set maxmemory-policy allkeys-lru: once it is full, it takes no more pages"
    return Check(name="shared cache", status="warn" if hint else "ok", detail=detail, hint=hint)


def _answer(shown: CacheProbe) -> str:
    return f"an answer takes {shown.answer_seconds * 1000:.1f} ms"


def _room(shown: CacheProbe) -> str:
    if shown.max_bytes is None:
        return ""
    bound = f"of {size_text(shown.max_bytes)}" if shown.max_bytes else "without a bound"
    return f"{size_text(shown.used_bytes)} used {bound}, {shown.policy}"
