"""Where pages are kept beyond a run, as the settings ask for it: on this machine's disk, or in a server for several.

Invariant: a run has one of the two or none, opened before its first page and closed after its last.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from agent.errors import ConfigurationError
from agent.settings import Settings
from browser.environment import WebEnvironment
from browser.observation import Observation
from browser.shared_cache.address import parse_cache_address
from speccache.second_level import SecondLevel, SharedLevel

if TYPE_CHECKING:
    from browser.shared_cache.link import CacheLink

PageLevel = SecondLevel[Observation] | SharedLevel[Observation]


@asynccontextmanager
async def open_cache_link(settings: Settings) -> AsyncIterator[CacheLink | None]:
    """Connect to the shared cache that the settings name; None where they name none.

    One that does not answer is told of in a warning, and runs go on without it.

    Raises:
        ConfigurationError: The extra `redis` is not installed.
    """
    if settings.shared_cache is None:
        yield None
        return
    try:
        from browser.shared_cache.link import CacheLink  # noqa: PLC0415 - needs the extra `redis`
    except ImportError as error:
        raise ConfigurationError(
            f"a shared cache needs a package that is not there: {error.name}",
            hint="Install it with: pip install 'speccache[redis]'",
        ) from error
    async with CacheLink(parse_cache_address(settings.shared_cache.get_secret_value())) as link:
        yield link


@asynccontextmanager
async def open_page_level(
    settings: Settings,
    web: WebEnvironment,
    *,
    link: CacheLink | None = None,
    listener: Callable[[str], None] = lambda _: None,
) -> AsyncIterator[PageLevel | None]:
    """Open what one run's pages are looked for in, and kept in; None where the settings name nothing.

    Args:
        settings: They.
        web: The web as the run sees it.
        link: The connection to a shared cache; None: it is opened for this run, if the settings name one.
        listener: Told in a sentence when that cache is lost, and when it is back.

    Raises:
        ConfigurationError: As `open_cache_link`.
    """
    async with AsyncExitStack() as stack:
        if settings.shelf is not None:
            from browser.shelf.shelf import Shelf  # noqa: PLC0415 - few runs have one

            shelf = Shelf(
                settings.shelf,
                name_of=web.key,
                part_chars=settings.part_chars,
                named_hosts=web.named_hosts,
                lets=web.egress.lets,
            )
            yield await stack.enter_async_context(shelf)
            return
        link = link or await stack.enter_async_context(open_cache_link(settings))
        if link is None:
            yield None
            return
        stack.enter_context(link.health.told_to(listener))
        from browser.shared_cache.cache import SharedCache  # noqa: PLC0415 - few runs have one

        yield SharedCache(
            link, name_of=web.key, part_chars=settings.part_chars, named_hosts=web.named_hosts, lets=web.egress.lets
        )
