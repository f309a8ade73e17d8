"""Which pages may be kept for a later run: what any browser might answer from its cache to a stranger."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from browser import Document, Observation, Readiness
from browser.shelf.life import shelf_seconds

NOON_SECONDS = 1_767_268_800.0
NOON = "Thu, 01 Jan 2026 12:00:00 GMT"
AN_HOUR_LATER = "Thu, 01 Jan 2026 13:00:00 GMT"
TEN_HOURS_EARLIER = "Thu, 01 Jan 2026 02:00:00 GMT"

DOCUMENT = Document(
    requested_url="https://example.org/page",
    url="https://example.org/page",
    status=200,
    readiness=Readiness.STATIC,
    markdown="text",
    headers={"date": NOON, "cache-control": "max-age=600"},
)


def seconds_of(document: Document, *, part: int = 1) -> float:
    return shelf_seconds(Observation(document=document, text="text", part=part, parts=2), now_seconds=NOON_SECONDS)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"cache-control": "max-age=600"}, 600),
        ({"cache-control": "public, max-age=600", "age": "500"}, 100),
        ({"cache-control": "max-age=600", "age": "700"}, 0),
        ({"cache-control": "max-age=99999999"}, 86_400),
        ({"cache-control": "max-age=5"}, 5),
        ({"expires": AN_HOUR_LATER}, 3600),
        ({"last-modified": TEN_HOURS_EARLIER}, 3600),
        ({}, 60),
        ({"cache-control": "no-cache"}, 0),
        ({"cache-control": "max-age=0"}, 0),
        ({"cache-control": "must-revalidate"}, 0),
        ({"cache-control": "no-store, max-age=600"}, 0),
        ({"cache-control": "Private, max-age=600"}, 0),
        ({"cache-control": 'max-age=600, private="x-user"'}, 0),
        ({"cache-control": "max-age=600", "vary": "*"}, 0),
        ({"cache-control": "max-age=600", "vary": "Accept-Encoding, Cookie"}, 600),
        ({"cache-control": "max-age=600", "vary": "Sec-Purpose"}, 0),
    ],
)
def test_as_long_as_the_server_allows(headers: dict[str, str], seconds: float) -> None:
    assert seconds_of(replace(DOCUMENT, headers={"date": NOON, **headers})) == seconds


def test_a_page_made_by_scripts_is_kept_for_minutes_only() -> None:
    headers = {"date": NOON, "cache-control": "max-age=3600"}
    assert seconds_of(replace(DOCUMENT, headers=headers)) == 3600
    assert seconds_of(replace(DOCUMENT, headers=headers, readiness=Readiness.SETTLED)) == 300


@pytest.mark.parametrize(
    "changed",
    [
        {"status": 404},
        {"status": 302},
        {"status": None},
        {"problem": "The page did not answer."},
        {"readiness": Readiness.CAP},
        {"readiness": Readiness.NONE},
        {"incidents": ("a dialog was closed",)},
        {"headers": {}},
        {"headers": {"cache-control": "max-age=600"}},
        {"requested_url": "https://name:word@example.org/page"},
        {"url": "https://example.org/page?token=abc"},
        {"requested_url": "https://example.org/logout"},
    ],
)
def test_what_is_no_public_whole_page_is_not_kept(changed: dict[str, Any]) -> None:
    assert seconds_of(replace(DOCUMENT, **changed)) == 0


def test_only_the_beginning_of_a_long_page_is_what_a_visit_shows() -> None:
    assert seconds_of(DOCUMENT, part=2) == 0
