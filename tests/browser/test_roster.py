"""Which endpoint gets the next page, and what becomes of one that failed."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from browser.errors import EndpointFailed, EndpointsDown, LaunchFailed
from browser.remote.endpoint import parse_browsers
from browser.remote.roster import Post, RetryWaits, Roster

AT_ONCE = RetryWaits(first_seconds=0.0, longest_seconds=0.0)


def failure(post: Post, *, reason: str = "it is gone") -> EndpointFailed:
    return EndpointFailed(endpoint=str(post.endpoint), reason=reason, hint="Start it.")


class Knocks:
    """Fails as often as it is told to, and then waits to be let through."""

    def __init__(self, *errors: LaunchFailed) -> None:
        self.errors = list(errors)
        self.count = 0
        self.let_through = asyncio.Event()

    async def __call__(self, _: Post) -> None:
        self.count += 1
        if self.errors:
            raise self.errors.pop(0)
        await self.let_through.wait()


def roster(*addresses: str, knock: Knocks | None = None) -> Roster:
    return Roster(parse_browsers(addresses).endpoints, knock=knock or Knocks(), waits=AT_ONCE)


def test_pages_are_spread_by_weight() -> None:
    endpoints = roster("ws://a:1#weight=3", "ws://b:1", "ws://c:1")
    chosen: Counter[str] = Counter()
    for _ in range(50):
        post = endpoints.candidates(ahead=False)[0]
        post.count(1, ahead=False)
        chosen[post.endpoint.host] += 1
    assert chosen == {"a": 30, "b": 10, "c": 10}


def test_loading_ahead_keeps_out_of_the_way_of_real_actions_where_it_can() -> None:
    endpoints = roster("ws://a:1#weight=9", "ws://b:1", "ws://c:1")
    endpoints.candidates(ahead=False)[0].count(1, ahead=False)
    for _ in range(4):
        endpoints.candidates(ahead=True)[0].count(1, ahead=True)
    assert repr(endpoints) == "<Roster ws://a:1=1+0 ws://b:1=0+2 ws://c:1=0+2>"
    for post in endpoints.posts[1:]:
        post.count(1, ahead=False)
    assert endpoints.candidates(ahead=True)[0].endpoint.host == "a"


async def test_one_that_failed_gets_no_page_until_it_was_connected_to_again() -> None:
    endpoints = roster("ws://a:1", "ws://b:1")
    first, second = endpoints.posts
    knock = Knocks(failure(first, reason="it is still gone"), LaunchFailed("the driver does not start"))
    endpoints = Roster([first.endpoint, second.endpoint], knock=knock, waits=AT_ONCE)
    first, second = endpoints.posts
    endpoints.failed(first, failure(first))
    endpoints.failed(first, failure(first))
    assert endpoints.candidates(ahead=False) == [second]
    while knock.count < 3:
        await asyncio.sleep(0)
    assert first.failure is not None
    assert first.failure.reason == "it is still gone"
    assert endpoints.candidates(ahead=True) == [second]
    knock.let_through.set()
    while first.failure is not None:
        await asyncio.sleep(0)
    assert set(endpoints.candidates(ahead=False)) == {first, second}
    while first.tried:
        await asyncio.sleep(0)
    await endpoints.aclose()


async def test_where_all_failed_only_real_actions_try_them_at_once() -> None:
    endpoints = roster("ws://a:1/?s3cret", "http://b:2")
    for post in endpoints.posts:
        endpoints.failed(post, failure(post))
    assert len(endpoints.candidates(ahead=False)) == 2
    with pytest.raises(EndpointsDown, match=r"ws://a:1: it is gone; http://b:2: it is gone") as down:
        endpoints.candidates(ahead=True)
    assert down.value.hint == "Start it."
    endpoints.succeeded(endpoints.posts[1])
    assert repr(endpoints) == "<Roster ws://a:1=down http://b:2=0+0>"
    await endpoints.aclose()
    endpoints.failed(endpoints.posts[1], failure(endpoints.posts[1]))
    assert len(endpoints._knocking) == 0
