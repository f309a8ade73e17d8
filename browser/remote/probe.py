"""Using a browser elsewhere once, for real, to learn whether it works.

Invariant: whatever the answer, the connection is given up.
"""

from __future__ import annotations

import asyncio
import time

from playwright.async_api import Error as PlaywrightError

from browser.engine.launch import LaunchOptions
from browser.engine.probe import Probe, passing_driver
from browser.engine.running_browser import RunningBrowser
from browser.errors import EndpointFailed
from browser.remote.connecting import briefly, connect
from browser.remote.endpoint import Endpoint
from browser.slots.pool_options import PoolOptions
from browser.slots.way_out import way_out

_PAGE_SECONDS = 10.0
_CLOSE_SECONDS = 5.0


async def probe_endpoint(endpoint: Endpoint, *, egress_host: str | None = None) -> Probe:
    """Connect to a browser elsewhere, look whether it reaches this machine's proxy, and load an empty page.

    Args:
        endpoint: Where.
        egress_host: The address of this machine at which it reaches that proxy.

    Raises:
        LaunchFailed: It cannot be used.
    """
    options = briefly(LaunchOptions())
    egress = way_out(PoolOptions(endpoints=(endpoint,), egress_host=egress_host))
    async with egress, passing_driver(timeout_seconds=options.launch_seconds) as driver:
        running = await driver.running()
        started = time.perf_counter()
        home = await connect(
            running, endpoint, options=options, background=False, proxy=egress.url, now_seconds=started
        )
        connected = time.perf_counter()
        try:
            await _load(home, endpoint)
            loaded = time.perf_counter()
            version = home.browser.version
        finally:
            await home.aclose(seconds=_CLOSE_SECONDS)
    return Probe(version=version, launch_seconds=connected - started, page_seconds=loaded - connected)


async def _load(home: RunningBrowser, endpoint: Endpoint) -> None:
    try:
        async with asyncio.timeout(_PAGE_SECONDS):
            context = await home.browser.new_context()
            await (await context.new_page()).goto("about:blank")
            await context.close()
    except (PlaywrightError, TimeoutError) as error:
        reason = f"it loads no page: {endpoint.masked(str(error)) or 'it does not answer'}"
        raise EndpointFailed(endpoint=str(endpoint), reason=reason) from None
