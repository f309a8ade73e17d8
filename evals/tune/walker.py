"""A session that loads pages for a sweep, as a run of the agent would.

Invariant: every host that a sweep starts from counts as named by the user.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from agent.keeper import Keeper
from agent.settings import Settings
from agent.wiring import host_of, open_pool, web_environment
from browser.environment import WebEnvironment


@asynccontextmanager
async def open_walker(settings: Settings, starts: Sequence[str]) -> AsyncIterator[WebEnvironment]:
    """Open a pool, and one session in it.

    Args:
        settings: How large the pool is, and all else.
        starts: Where the session will start; at least one.

    Raises:
        BrowserError: The browser, or the saved session, cannot be used.
        ConfigurationError: A secret has no value.
    """
    hosts = (*settings.allow_hosts, *map(host_of, starts))
    named, start = settings.model_copy(update={"allow_hosts": hosts}), starts[0]
    with Keeper(named) as keeper:
        async with open_pool(named, start) as pool:
            web = web_environment(named, pool, start, visitor=keeper.visitor(start))
            try:
                yield web
            finally:
                await web.aclose()
