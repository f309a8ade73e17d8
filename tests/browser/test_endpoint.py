"""How a browser is named, and that nothing of what may be a secret is told of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from browser.remote.endpoint import BrowserChoice, Protocol, parse_browsers, parse_endpoint


@pytest.mark.parametrize(
    ("text", "name", "protocol", "is_here"),
    [
        ("ws://host:3000/", "ws://host:3000", Protocol.PLAYWRIGHT, False),
        ("wss://me:s3cret@host/s3cret?token=s3cret", "wss://host", Protocol.PLAYWRIGHT, False),
        ("http://127.0.0.1:9222", "http://127.0.0.1:9222", Protocol.CDP, True),
        ("https://[::1]:9222/?s3cret", "https://[::1]:9222", Protocol.CDP, True),
        ("ws://localhost:9222/devtools/browser/s3cret", "ws://localhost:9222", Protocol.CDP, True),
    ],
)
def test_an_address_is_read_and_its_name_told(text: str, name: str, protocol: Protocol, *, is_here: bool) -> None:
    endpoint = parse_endpoint(text)
    assert (endpoint.url, str(endpoint), endpoint.protocol, endpoint.is_here) == (text, name, protocol, is_here)
    assert "s3cret" not in repr(endpoint) + endpoint.masked(f"WebSocket error: {text} refused")


def test_several_are_separated_by_commas_or_given_one_by_one() -> None:
    choice = parse_browsers(["ws://a:1/?one=1,two=2,http://b:2#weight=0.5", " ws://c:3#weight=2 "])
    assert [(endpoint.url, endpoint.weight) for endpoint in choice.endpoints] == [
        ("ws://a:1/?one=1,two=2", 1.0),
        ("http://b:2", 0.5),
        ("ws://c:3", 2.0),
    ]


def test_a_path_is_a_browser_of_this_machine() -> None:
    assert parse_browsers([]) == BrowserChoice()
    assert parse_browsers(["/opt/a,b/chromium"]) == BrowserChoice(executable=Path("/opt/a,b/chromium"))


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["ftp://s3cret:21"], "ws://HOST:PORT"),
        (["ws:///s3cret"], "ws://HOST:PORT"),
        (["ws://s3cret:99999"], "ws://HOST:PORT"),
        (["ws://me:s3cret@a:1#weight=0"], "what follows # in ws://a:1"),
        (["ws://a:1/?s3cret#2"], "#weight=2"),
        (["ws://a:1/?s3cret", "ws://a:1/?s3cret#weight=2"], "named twice"),
        (["/usr/bin/chromium", "ws://a:1/?s3cret"], "leave one of them out"),
        (["/usr/bin/chromium", "/opt/chromium"], "one Chromium"),
    ],
)
def test_what_is_written_otherwise_is_refused(texts: list[str], says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)) as error:
        parse_browsers(texts)
    assert "s3cret" not in str(error.value)
