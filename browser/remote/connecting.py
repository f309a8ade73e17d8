"""Connecting to a browser elsewhere.

Invariant: what is returned reaches the network through our proxy, which has been tried; and no message holds what the
endpoint's address may hold of a secret, so the errors of Playwright, which quote it, are not chained.
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from importlib import metadata

from playwright.async_api import Browser
from playwright.async_api import Error as PlaywrightError

from browser.engine.closing import end_quietly
from browser.engine.driver import RunningDriver
from browser.engine.launch import LaunchOptions, flags
from browser.engine.recycling import Wear
from browser.engine.running_browser import RunningBrowser
from browser.errors import EndpointFailed
from browser.remote.endpoint import Endpoint, Protocol

_CONNECT_SECONDS = 10.0
_MARGIN_SECONDS = 1.0
_OTHER_VERSION = re.compile(r"version mismatch.*server version: v([\d.]+).*client version: v([\d.]+)", re.DOTALL)
_PREFIX = re.compile(r"^BrowserType\.\w+: (?:WebSocket error: )?")
# An address that stands for nothing (RFC 5737) and that the egress rule refuses without asking anybody: a proxy that is
# reached says so by giving no answer.
_NOWHERE = "http://192.0.2.1/"
_REFUSED_BY_PROXY = "ERR_EMPTY_RESPONSE"


def briefly(options: LaunchOptions) -> LaunchOptions:
    """Return these options for browsers elsewhere, which are not waited for as long as a start on this machine."""
    return replace(options, launch_seconds=min(options.launch_seconds, _CONNECT_SECONDS))


async def connect(
    driver: RunningDriver,
    endpoint: Endpoint,
    *,
    options: LaunchOptions,
    background: bool,
    proxy: str | None,
    now_seconds: float,
) -> RunningBrowser:
    """Connect to a browser elsewhere; a Playwright server starts one for it.

    Args:
        driver: What connects.
        endpoint: Where.
        options: How long that may take.
        background: Whether pages are loaded ahead in it.
        proxy: The address, as seen from there, of the proxy that all requests of its contexts are to go through.
        now_seconds: The time, by the pool's clock.

    Raises:
        EndpointFailed: It cannot be used.
    """
    seconds = options.launch_seconds
    try:
        async with asyncio.timeout(seconds + _MARGIN_SECONDS):  # the driver keeps the limit, unless it hangs itself
            browser = await _connected(driver, endpoint, background=background, seconds=seconds)
    except (PlaywrightError, TimeoutError) as error:
        raise _failure(endpoint, str(error)) from None
    home = RunningBrowser(browser=browser, driver=driver, main=None, wear=Wear(since_seconds=now_seconds), proxy=proxy)
    try:
        if proxy is not None:
            await _try_proxy(browser, endpoint, proxy, seconds=seconds)
    except BaseException:
        await home.aclose(seconds=options.close_seconds)
        raise
    return home


async def _connected(driver: RunningDriver, endpoint: Endpoint, *, background: bool, seconds: float) -> Browser:
    chromium = driver.playwright.chromium
    if endpoint.protocol is Protocol.CDP:
        return await chromium.connect_over_cdp(endpoint.url, timeout=seconds * 1000)
    # A server heeds the arguments only where it was started with `--unsafe`; else it leaves them out.
    wanted = {"headless": True, "args": flags(background=background), "timeout": seconds * 1000}
    headers = {"x-playwright-launch-options": json.dumps(wanted)}
    return await chromium.connect(endpoint.url, headers=headers, timeout=seconds * 1000)


async def _try_proxy(browser: Browser, endpoint: Endpoint, proxy: str, *, seconds: float) -> None:
    """Look whether the browser reaches our proxy: without it every page would fail, each with a riddle."""
    said = "it does not answer"
    try:
        async with asyncio.timeout(seconds):
            context = await browser.new_context(proxy={"server": proxy})
            try:
                page = await context.new_page()
                await page.goto(_NOWHERE, timeout=seconds * 1000)
            finally:
                await end_quietly(context.close(), seconds=seconds)
    except (PlaywrightError, TimeoutError) as error:
        said = str(error) or said
        if _REFUSED_BY_PROXY in said:
            return
    found = re.search(r"net::\w+", said)
    raise EndpointFailed(
        endpoint=str(endpoint),
        reason=f"it does not reach this machine's proxy at {proxy} ({found[0] if found else _first_line(said)})",
        hint="Name with --egress-host the address at which browsers reach this machine, and a browser in a container"
        " by its own address, not by a forwarded port; see docs/cluster.md.",
    )


def _failure(endpoint: Endpoint, said: str) -> EndpointFailed:
    versions = _OTHER_VERSION.search(said)
    if versions is not None:
        return _other_version(endpoint, server=versions[1])
    reason = endpoint.masked(_first_line(said)) if said else "it does not answer"
    if endpoint.protocol is Protocol.PLAYWRIGHT:
        hint = (
            f"Start a server there: npx playwright@{_own_numbers()} run-server --host 0.0.0.0 --port 3000; a browser's"
            " debugging port is named http://HOST:PORT."
        )
    else:
        hint = "Start a browser there with --remote-debugging-port=9222; a Playwright server is named ws://HOST:PORT."
    return EndpointFailed(endpoint=str(endpoint), reason=reason, hint=hint)


def _other_version(endpoint: Endpoint, *, server: str) -> EndpointFailed:
    own = _own_numbers()
    return EndpointFailed(
        endpoint=str(endpoint),
        reason=f"it runs Playwright {server}, and this machine Playwright {own}; both must have the same first two"
        " numbers",
        hint=f"Start the server as npx playwright@{own} run-server, or here: pip install 'playwright=={server}.*'.",
    )


def _own_numbers() -> str:
    """The part of the version in which the two sides must agree."""
    return ".".join(metadata.version("playwright").split(".")[:2])


def _first_line(text: str) -> str:
    line = _PREFIX.sub("", text).strip().partition("\n")[0]
    return line.rstrip(". ")
