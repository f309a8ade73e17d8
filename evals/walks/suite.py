"""The suite `walks`: questions over generated JavaScript sites, each served on a port of its own.

Invariant: the first N questions, for any N from eight on, are of all domains and of both kinds, as nearly in equal
parts as N allows; so a limited run is a fair sample.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import zip_longest
from random import Random

from evals.site import LatencyModel, SiteServer
from evals.suites.item import Item
from evals.suites.suite import Addresses, Suite
from evals.walks.walk_site import WalkSite, build_sites

NAME = "walks"


def walks_suite(seed: int = 7) -> Suite:
    """Return the suite; equal seeds give equal sites, questions and order.

    Resource handling: leaving the block of `serve` closes every port.
    """
    sites = build_sites(seed)

    @asynccontextmanager
    async def serve(time_scale: float) -> AsyncIterator[Addresses]:
        async with AsyncExitStack() as stack:
            servers = {
                site.name: await stack.enter_async_context(serve_site(site, time_scale=time_scale)) for site in sites
            }
            yield {name: server.url for name, server in servers.items()}

    return Suite(name=NAME, items=tuple(_in_order(sites, seed)), serve=serve)


def serve_site(site: WalkSite, *, time_scale: float, port: int = 0) -> SiteServer:
    """Return the server of one site, whose delays are its own, though its addresses are like those of others."""
    return SiteServer(site.site, latency=LatencyModel(time_scale=time_scale, seed=site.site.seed), port=port)


def _in_order(sites: Sequence[WalkSite], seed: int) -> Iterator[Item]:
    """Take a question of each domain and kind in turn; which one, and who begins a turn, is drawn."""
    random = Random(f"{seed}:order")  # noqa: S311 (content, no secret)
    groups: dict[tuple[str, str], list[Item]] = {}
    for site in sites:
        for item in site.items:
            groups.setdefault((item.domain, item.kind), []).append(item)
    for group in groups.values():
        random.shuffle(group)
    for turn in zip_longest(*groups.values()):
        asked = [item for item in turn if item is not None]
        random.shuffle(asked)
        yield from asked
