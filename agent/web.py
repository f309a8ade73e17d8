"""The web as the settings ask for it: a pool of browsers, and what one run sees through it.

Invariant: a host is private, or gets what is the user's own, only where the user named it: as the start or beside it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from yarl import URL

from agent.keeper import Visitor, identity
from agent.settings import PredictorName, Settings
from browser.address import check_address
from browser.egress.upstream import parse_proxy
from browser.engine.process import LaunchOptions
from browser.environment import WebEnvironment
from browser.page import LoadOptions
from browser.pool import BrowserPool, PoolOptions
from browser.search.engine_name import parse_engine
from browser.slots.automatic_size import AutomaticSize, RegulatorOptions

_FIRST_SIZE = 4
"""What a pool begins with that finds its size by itself."""


@asynccontextmanager
async def open_pool(settings: Settings, url: str = "") -> AsyncIterator[BrowserPool]:
    """Open the pool the settings ask for.

    Args:
        settings: They.
        url: Where its runs start; with headers of the user's own, pages stand ready only for runs that start here.

    Raises:
        BrowserNotFound: There is no Chromium on this machine.
        LaunchFailed: It does not start.
    """
    guesses = settings.speculation and settings.predictor is not PredictorName.NONE
    options = PoolOptions(
        speculation_slots=_slots(settings) if guesses else 0,
        foreground_slots=settings.questions_at_once,
        max_memory_mib=settings.max_memory,
        host_loads=settings.host_loads,
        host_loads_per_second=settings.host_rate,
        identity=identity(settings, url),
        proxy=parse_proxy(settings.proxy.get_secret_value()) if settings.proxy else None,
        allowed_domains=settings.allow_domains,
        denied_domains=settings.deny_domains,
        downloads=settings.downloads,
        endpoints=settings.browsers.endpoints,
        egress_host=settings.egress_host,
        launch=LaunchOptions(executable=settings.browsers.executable, headed=settings.headed),
    )
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(BrowserPool(options))
        if guesses and settings.pool_size == "auto":
            await stack.enter_async_context(AutomaticSize(pool))
        yield pool


def max_running(settings: Settings) -> int:
    """Return how many pages may load ahead at once at most."""
    return RegulatorOptions().limits.max_slots if settings.pool_size == "auto" else settings.pool_size


def _slots(settings: Settings) -> int:
    return _FIRST_SIZE if settings.pool_size == "auto" else settings.pool_size


def web_environment(
    settings: Settings, pool: BrowserPool, url: str, *, visitor: Visitor | None = None
) -> WebEnvironment:
    """Return the web as seen by a run that starts at the URL: its host counts as named by the user.

    Args:
        settings: How pages are loaded.
        pool: Where.
        url: Where the run starts; empty: with a search.
        visitor: Who it is to the sites; None: nobody they know, with nothing of the user's own.
    """
    visitor = visitor or Visitor(identity=pool.options.identity)
    return WebEnvironment(
        pool,
        named_hosts=named_hosts(settings, url),
        part_chars=settings.part_chars,
        load_options=LoadOptions(
            navigate_timeout_seconds=settings.load_seconds, settle_cap_seconds=settings.settle_seconds
        ),
        allowance=visitor.allowance,
        session=visitor.session,
        identity=visitor.identity,
        search=parse_engine(settings.search) if settings.search else None,
    )


def named_hosts(settings: Settings, url: str) -> frozenset[str]:
    """Return the hosts that the user named for a run that starts at the URL, beside that of the search engine."""
    return frozenset({host_of(url), *settings.allow_hosts} - {""})


def host_of(url: str) -> str:
    """Return a URL's host; empty where it has none or is none."""
    try:
        return URL(url).host or ""
    except ValueError:
        return ""


def checked(url: str) -> str:
    """Complete an address as a person types it (without a scheme it is https), and check that it may be opened.

    Raises:
        AddressRefused: It is no web address.
    """
    address = completed(url)
    check_address(address, named_hosts={host_of(address)})
    return address


def completed(url: str) -> str:
    """Complete an address as a person types it: without a scheme it is https."""
    has_scheme = "://" in url or url.partition(":")[0] in ("about", "data", "javascript", "mailto", "view-source")
    return url if has_scheme else f"https://{url}"
