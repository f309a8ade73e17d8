"""What is secret in an address is in no text that quotes it."""

from __future__ import annotations

import pytest

from browser.address_mask import masked
from browser.remote.endpoint import parse_endpoint
from browser.shared_cache.address import parse_cache_address

SAID = "refused: tom with p%40ss (p@ss) and key=t0k%2Fen (t0k/en), not tomorrow"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://h/", SAID),
        ("https://tom@h/", "refused: *** with p%40ss (p@ss) and key=t0k%2Fen (t0k/en), not tomorrow"),
        ("https://tom:p%40ss@h/", "refused: *** with *** (***) and key=t0k%2Fen (t0k/en), not tomorrow"),
        ("https://h/?key=t0k%2Fen", "refused: tom with p%40ss (p@ss) and key=*** (***), not tomorrow"),
        ("https://h/?x=1&t0k%2Fen", "refused: tom with p%40ss (p@ss) and key=*** (***), not tomorrow"),
    ],
)
def test_what_is_secret_is_hidden_as_a_whole(url: str, shown: str) -> None:
    assert masked(SAID, url) == shown


def test_the_longer_of_two_secrets_is_hidden_first() -> None:
    assert masked("tom, tom-and-jerry", "https://tom:tom-and-jerry@h/") == "***, ***"


def test_errors_of_endpoints_and_caches_are_masked_alike() -> None:
    endpoint = parse_endpoint("wss://tom:p@h:1/?token=t0ken")
    assert (
        endpoint.masked("no such token: t0ken, at wss://tom:p@h:1/?token=t0ken") == "no such token: ***, at wss://h:1"
    )
    cache = parse_cache_address("rediss://tom:p@h/?ssl_ca_certs=/etc/ca.pem")
    assert cache.masked("tom may not; no file /etc/ca.pem") == "*** may not; no file /etc/ca.pem"


def test_an_address_that_was_quoted_as_a_whole_is_hidden() -> None:
    assert masked("to ws%3A%2F%2Fh%2F%3Ftoken%3Ds3cret refused", "ws://h/?token=s3cret") == (
        "to ws%3A%2F%2Fh%2F%3Ftoken%3D*** refused"
    )
