"""How long a page may be used, by what its headers say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser.speculation.freshness import FreshnessLimits, freshness, http_date_seconds, varies
from speccache.store import Lifetime

NOON_SECONDS = 1_767_268_800.0  # Thu, 01 Jan 2026 12:00:00 GMT
NOON = "Thu, 01 Jan 2026 12:00:00 GMT"
TWO_MINUTES_LATER = "Thu, 01 Jan 2026 12:02:00 GMT"
HALF_AN_HOUR_EARLIER = "Thu, 01 Jan 2026 11:30:00 GMT"
A_YEAR_EARLIER = "Wed, 01 Jan 2025 12:00:00 GMT"

HEADERS = (
    *("cache-control", "age", "expires", "date", "last-modified"),
    *("vary", "set-cookie", "pragma"),
)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"cache-control": "max-age=120"}, 120),
        ({"cache-control": "public, Max-Age=120, immutable"}, 120),
        ({"cache-control": "private, max-age=120"}, 120),  # the store is one session's
        ({"cache-control": 'private="x-user, max-age=5", max-age="120"'}, 120),
        ({"cache-control": "max-age=120, max-age=240"}, 120),
        ({"cache-control": "s-maxage=1, max-age=120"}, 120),  # for shared caches only
        ({"cache-control": "max-age=120, must-revalidate"}, 120),
        ({"cache-control": "max-age=86400"}, 300),
        ({"cache-control": "max-age=" + "9" * 400}, 300),
        ({"cache-control": "max-age=120", "age": "50"}, 70),
        ({"cache-control": "max-age=120", "age": "50, 60"}, 70),
        ({"cache-control": "max-age=120", "age": "unknown"}, 120),
        ({"cache-control": "max-age=120", "age": "110"}, 60),
        ({"cache-control": "max-age=120", "expires": "0"}, 120),
        ({"cache-control": "max-age=0"}, 60),
        ({"cache-control": "max-age=5"}, 60),
        ({"cache-control": "max-age=soon"}, 60),
        ({"cache-control": "no-cache"}, 60),
        ({"cache-control": "no-cache, max-age=120"}, 60),
        ({"cache-control": 'no-cache="set-cookie"'}, 60),
        ({"cache-control": "must-revalidate"}, 60),
        ({"expires": TWO_MINUTES_LATER, "date": NOON}, 120),
        ({"expires": TWO_MINUTES_LATER}, 120),
        ({"expires": TWO_MINUTES_LATER, "age": "50"}, 70),
        ({"expires": HALF_AN_HOUR_EARLIER, "date": NOON}, 60),
        ({"expires": "0"}, 60),
        ({"expires": TWO_MINUTES_LATER, "cache-control": "must-revalidate"}, 120),
        ({"last-modified": HALF_AN_HOUR_EARLIER, "date": NOON}, 180),
        ({"last-modified": HALF_AN_HOUR_EARLIER}, 180),
        ({"last-modified": A_YEAR_EARLIER}, 300),
        ({"last-modified": TWO_MINUTES_LATER}, 60),
        ({"last-modified": "yesterday"}, 60),
        ({}, 60),
    ],
)
def test_reads_the_lifetime(headers: dict[str, str], seconds: float) -> None:
    assert freshness(headers, now_seconds=NOON_SECONDS) == Lifetime(max_age_seconds=seconds)


@pytest.mark.parametrize("cache_control", ["no-store", "No-Store", "max-age=120, no-store", "no-store;private"])
def test_what_must_not_be_stored_serves_the_next_step_only(cache_control: str) -> None:
    answer = freshness({"cache-control": cache_control}, now_seconds=NOON_SECONDS)
    assert answer == Lifetime(max_age_seconds=60, single_use=True)


def test_a_quoted_directive_is_none() -> None:
    assert not freshness({"cache-control": 'private="no-store"'}, now_seconds=NOON_SECONDS).single_use


def test_keeps_to_the_limits() -> None:
    limits = FreshnessLimits(window_seconds=5, min_heuristic_seconds=10, max_seconds=20)
    told: tuple[dict[str, str], ...] = (
        {"cache-control": "max-age=60"},
        {"cache-control": "no-cache"},
        {"cache-control": "no-store"},
        {},
    )
    ages = [freshness(headers, now_seconds=0, limits=limits).max_age_seconds for headers in told]
    assert ages == [20, 5, 5, 10]


@pytest.mark.parametrize("vary", ["*", "Accept-Encoding, *", "Sec-Purpose", "accept, purpose", "X-Moz", "RTT,ECT"])
def test_a_page_that_depends_on_more_than_the_session(vary: str) -> None:
    assert varies({"vary": vary})


@pytest.mark.parametrize(
    "vary",
    [
        *("", "Accept-Encoding", "Accept, Accept-Language,User-Agent", "Cookie", "Sec-Fetch-Mode, Sec-CH-UA-Mobile"),
        "RSC, Next-Router-State-Tree, Accept-Encoding",
    ],
)
def test_a_page_that_depends_on_the_session_alone(vary: str) -> None:
    assert not varies({"vary": vary})
    assert not varies({})


@pytest.mark.parametrize(
    "value",
    [NOON, "Thursday, 01-Jan-26 12:00:00 GMT", "Thu Jan  1 12:00:00 2026", "Thu, 01 Jan 2026 12:00:00 -0000"],
)
def test_reads_every_form_of_an_http_date(value: str) -> None:
    assert http_date_seconds(value) == NOON_SECONDS


@given(st.dictionaries(st.sampled_from(HEADERS), st.text() | st.from_regex(r"(\w|[-=,\" ])*")))
def test_any_headers_give_an_age_within_the_limits(headers: dict[str, str]) -> None:
    assert 60 <= freshness(headers, now_seconds=NOON_SECONDS).max_age_seconds <= 300
    varies(headers)


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d+ \w+ \d+ [\d:]+ ?\S*"))
def test_any_text_is_a_date_or_none(value: str) -> None:
    seconds = http_date_seconds(value)
    assert seconds is None or isinstance(seconds, float)
