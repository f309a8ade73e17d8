"""A page that is there already is shown at the address that was asked for, as a load of that address would show it."""

from __future__ import annotations

import pytest

from browser.arrival import as_asked
from tests.agent.pages import page

SITE = "https://docs.example"


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("/a#section-2", "/a#section-2"),
        ("/a", "/a"),
        ("/a?utm_source=x", "/a?utm_source=x"),
    ],
)
def test_it_has_the_address_that_was_asked_for(asked: str, shown: str) -> None:
    loaded = page(requested_url=f"{SITE}/a#section-1", url=f"{SITE}/a#section-1")
    document = as_asked(loaded, SITE + asked).document
    assert (document.requested_url, document.url) == (SITE + asked, SITE + shown)
    assert document.markdown == loaded.document.markdown


def test_where_it_was_redirected_it_stays() -> None:
    loaded = page(requested_url=f"{SITE}/old#1", url=f"{SITE}/new")
    assert as_asked(loaded, f"{SITE}/old#2").document.url == f"{SITE}/new"


def test_the_same_address_changes_nothing() -> None:
    loaded = page(requested_url=f"{SITE}/a", url=f"{SITE}/a/")
    assert as_asked(loaded, f"{SITE}/a") is loaded
    assert as_asked(loaded, None) is loaded
