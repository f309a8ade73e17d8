"""The generated sites in a real browser: their pages render, and the known ways can be walked there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import aiohttp
import pytest

from browser.action import Visit
from browser.environment import WebEnvironment
from browser.observation import Document, Readiness
from browser.pool import BrowserPool
from browser.slots.pool_options import PoolOptions
from browser.speculation.gate import refusal
from evals.suites.suite import Addresses, Suite
from evals.walks import WalkSite, build_sites, walks_suite


@pytest.fixture(scope="module")
def suite() -> Suite:
    return walks_suite()


@pytest.fixture(scope="module")
def sites() -> list[WalkSite]:
    """All sites, by the size of their roots."""
    return sorted(build_sites(), key=lambda site: len(site.root_links()))


@pytest.fixture(scope="module")
async def addresses(suite: Suite) -> AsyncIterator[Addresses]:
    assert suite.serve is not None
    async with suite.serve(0) as addresses:
        yield addresses


@pytest.fixture(scope="module")
async def session() -> AsyncIterator[WebEnvironment]:
    async with BrowserPool(PoolOptions(speculation_slots=0)) as pool:
        session = WebEnvironment(pool, named_hosts={"127.0.0.1"})
        yield session
        await session.aclose()


async def read(session: WebEnvironment, url: str) -> Document:
    document = (await session.step(Visit(url))).document
    assert document.problem is None
    assert document.readiness is Readiness.SETTLED
    return document


def paths(document: Document) -> set[str]:
    return {urlsplit(link.url).path for link in document.links}


def test_every_site_has_an_address_of_its_own(suite: Suite, sites: list[WalkSite], addresses: Addresses) -> None:
    assert addresses.keys() == {site.name for site in sites} == {item.site for item in suite.items}
    assert len(set(addresses.values())) == len(addresses)


@pytest.mark.parametrize(
    ("domain", "lang"), [("organization", "zh"), ("conference", "en"), ("education", "zh"), ("game", "en")]
)
async def test_the_longest_way_can_be_walked_link_by_link(
    session: WebEnvironment, addresses: Addresses, suite: Suite, domain: str, lang: str
) -> None:
    asked = [item for item in suite.items if (item.domain, item.lang) == (domain, lang)]
    item = max(asked, key=lambda item: (max(map(len, item.golden)), -item.hops))
    base = addresses[item.site]
    for way, fact in zip(item.golden, item.answer_tokens, strict=True):
        document = await read(session, base + item.url)
        for step in way:
            named = [link for link in document.links if link.url == base + step]
            assert named
            assert [refusal(link, page_url=document.url) for link in named] == [None] * len(named)
            document = await read(session, base + step)
        assert fact in document.markdown


async def test_a_site_in_one_language_sends_everybody_to_its_own_root(addresses: Addresses) -> None:
    async with aiohttp.ClientSession() as client:
        for path in ("/", "/logout"):
            async with client.get(addresses["game-zh-1"] + path) as response:
                assert (response.status, response.url.path) == (200, "/zh")


@pytest.mark.parametrize("place", [0, 15, 23])
async def test_a_root_shows_all_its_links_whatever_its_size(
    session: WebEnvironment, addresses: Addresses, sites: list[WalkSite], place: int
) -> None:
    site = sites[place]
    document = await read(session, addresses[site.name] + site.root)
    paths = {urlsplit(link.url).path for link in document.links}
    assert paths & site.site.pages.keys() - {site.root} == site.root_links()
