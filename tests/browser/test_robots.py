"""robots.txt, fetched from real servers: who may be loaded ahead, and that nobody is asked twice or waits too long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing

import pytest
from aiohttp import web

from browser.speculation.robots import Robots
from tests.website import Answer, Website

DAY_SECONDS = 24 * 3600.0


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def robots(clock: Clock) -> AsyncIterator[Robots]:
    async with aclosing(Robots(clock=clock)) as robots:
        yield robots


def says(text: str = "", *, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=status, text=text, headers=headers)

    return answer


def leads_to(location: str, *, status: int = 302) -> Answer:
    return says(status=status, headers={"Location": location})


@pytest.mark.parametrize(
    ("rules", "path", "refusal"),
    [
        ("User-agent: *\nDisallow: /private", "/private/1", "robots"),
        ("User-agent: *\nDisallow: /private", "/public", None),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", None),  # the longest match decides
        ("User-agent: *\nAllow: /a\nDisallow: /a/b", "/a/b/c", "robots"),
        ("User-agent: *\nDisallow: /a\nAllow: /a", "/a", None),  # between equals, allow
        ("User-agent: *\nDisallow: /*?print=", "/page?print=1", "robots"),
        ("User-agent: *\nDisallow: /end$", "/end/on", None),
        ("User-agent: speccache\nDisallow: /\n\nUser-agent: *\nAllow: /", "/page", "robots"),
        ("User-agent: *\nDisallow: /\n\nUser-agent: SpecCache\nDisallow:", "/page", None),
        ("User-agent: Googlebot\nDisallow: /", "/page", None),
        ("\ufeffUser-agent: *\nDisallow: /", "/page", "robots"),
        ("<html>no rules at all</html>", "/page", None),
        ("", "/page", None),
    ],
)
async def test_follows_the_rules(robots: Robots, rules: str, path: str, refusal: str | None) -> None:
    async with Website({"/robots.txt": says(rules)}) as site:
        assert await robots.refusal(site.url + path) == refusal
        assert robots.known(site.url + path) == refusal


@pytest.mark.parametrize(
    ("status", "refusal"),
    [(204, None), (401, None), (403, None), (404, None), (410, None)]
    + [(status, "robots") for status in (300, 304, 429, 500, 503)],
)
async def test_reads_the_status(robots: Robots, status: int, refusal: str | None) -> None:
    async with Website({"/robots.txt": says(status=status)}) as site:
        assert await robots.refusal(site.url + "/page") == refusal


async def test_says_who_asks_and_carries_no_cookie(robots: Robots) -> None:
    first = says(status=302, headers={"Location": "/rules", "Set-Cookie": "a=1"})
    async with Website({"/robots.txt": first, "/rules": says()}) as site:
        await robots.refusal(site.url)
        assert [(asked.path, asked.headers.get("Cookie")) for asked in site.asked] == [
            ("/robots.txt", None),
            ("/rules", None),
        ]
        assert site.asked[0].headers["User-Agent"].startswith("SpecCache ")


async def test_asks_once_for_all_pages_of_an_origin(robots: Robots) -> None:
    async with Website({"/robots.txt": says("User-agent: *\nDisallow: /a")}) as site:
        gate = site.shut("/robots.txt")
        async with asyncio.TaskGroup() as group:
            asking = [group.create_task(robots.refusal(site.url + path)) for path in ("/a", "/b", "/c")]
            await site.arrived("/robots.txt")
            gate.set()
        assert [task.result() for task in asking] == ["robots", None, None]
        assert await robots.refusal(site.url + "/a/2") == "robots"
        assert site.count("/robots.txt") == 1


async def test_asks_again_after_a_day(robots: Robots, clock: Clock) -> None:
    async with Website({"/robots.txt": says()}) as site:
        await robots.refusal(site.url)
        clock.seconds = DAY_SECONDS - 1
        assert robots.known(site.url) is None
        clock.seconds = DAY_SECONDS
        assert robots.known(site.url) == "robots-unknown"
        await robots.refusal(site.url)
        assert site.count("/robots.txt") == 2


async def test_asks_a_failing_server_again_after_minutes(robots: Robots, clock: Clock) -> None:
    answers = {"/robots.txt": says(status=500)}
    async with Website(answers) as site:
        assert await robots.refusal(site.url) == "robots"
        answers["/robots.txt"] = says()
        clock.seconds = 299
        assert await robots.refusal(site.url) == "robots"
        clock.seconds = 300
        assert await robots.refusal(site.url) is None


async def test_prepares_in_the_background(robots: Robots) -> None:
    async with Website({"/robots.txt": says("User-agent: *\nDisallow: /a\nCrawl-delay: 2.5")}) as site:
        robots.prepare(site.url)
        robots.prepare(site.url + "/again")
        assert robots.known(site.url + "/b") == "robots-unknown"
        assert robots.crawl_delay_seconds(site.url) == 0.0
        assert await robots.refusal(site.url + "/b") is None
        robots.prepare(site.url)
        assert (robots.known(site.url + "/a"), robots.crawl_delay_seconds(site.url)) == ("robots", 2.5)
        assert site.count("/robots.txt") == 1


async def test_closing_ends_what_was_being_prepared(robots: Robots) -> None:
    async with Website({"/robots.txt": says()}) as site:
        site.shut("/robots.txt")
        robots.prepare(site.url)
        await site.arrived("/robots.txt")
        await robots.aclose()
        await robots.aclose()
        robots.prepare(site.url)
        assert repr(robots) == "<Robots origins=0 preparing=0 <Flights running=0 waiters=0>>"


async def test_a_cancelled_caller_leaves_nothing_behind(robots: Robots) -> None:
    async with Website({"/robots.txt": says()}) as site:
        site.shut("/robots.txt")
        asking = asyncio.create_task(robots.refusal(site.url))
        await site.arrived("/robots.txt")
        asking.cancel()
        await asyncio.wait([asking])
        assert asking.cancelled()
        assert repr(robots) == "<Robots origins=0 preparing=0 <Flights running=0 waiters=0>>"


async def test_a_server_that_does_not_answer_in_time_allows_nothing() -> None:
    async with Website({"/robots.txt": says()}) as site, aclosing(Robots(fetch_seconds=0.05)) as robots:
        site.shut("/robots.txt")
        assert await robots.refusal(site.url) == "robots"


async def test_an_unreachable_server_allows_nothing(robots: Robots) -> None:
    async with Website({}) as site:
        url = site.url
    assert await robots.refusal(url) == "robots"


async def test_follows_five_redirects(robots: Robots) -> None:
    pages: dict[str, str | Answer] = {"/robots.txt": leads_to("/1"), "/5": says("User-agent: *\nDisallow: /a")}
    statuses = (301, 303, 307, 308)
    pages |= {f"/{hop}": leads_to(f"/{hop + 1}", status=statuses[hop - 1]) for hop in range(1, 5)}
    async with Website(pages) as site:
        assert await robots.refusal(site.url + "/a") == "robots"
        assert await robots.refusal(site.url + "/b") is None


@pytest.mark.parametrize("location", ["/robots.txt", "file:///etc/passwd", "http://[", "http://169.254.169.254/latest"])
async def test_a_redirect_that_leads_nowhere_allows_nothing(robots: Robots, location: str) -> None:
    async with Website({"/robots.txt": leads_to(location)}) as site:
        assert await robots.refusal(site.url) == "robots"
        assert site.count("/robots.txt") <= 6


async def test_is_not_sent_to_another_private_server(robots: Robots) -> None:
    async with Website({"/robots.txt": says()}) as other, Website({"/robots.txt": leads_to(other.url)}) as site:
        assert await robots.refusal(site.url) == "robots"
        assert other.asked == []


async def test_reads_500_kib_and_no_half_line(robots: Robots) -> None:
    head = "User-agent: *\nDisallow: /early\n"
    line = "Disallow: /a\n"
    filler = "#" * (500 * 1024 - len(head) - 1 - len("Disallow: /")) + "\n"  # the limit falls behind the last slash
    async with Website({"/robots.txt": says(head + filler + line)}) as site:
        assert await robots.refusal(site.url + "/early") == "robots"
        assert await robots.refusal(site.url + "/late") is None


async def test_a_relative_url_is_an_error(robots: Robots) -> None:
    with pytest.raises(ValueError, match="absolute"):
        robots.known("/page")
