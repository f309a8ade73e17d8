"""Which page a URL names, and which may be opened."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser.address import check_address, is_private, page_key, same_site
from browser.errors import AddressRefused

SAME = [
    ("HTTPS://Example.org:443/a/./b/../c%7e", "https://example.org/a/c~"),
    ("http://example.org", "http://example.org/"),
    ("http://example.org/x#section", "http://example.org/x"),
    ("http://example.org/x?utm_source=mail&a=1&gclid=7", "http://example.org/x?a=1"),
    ("http://example.org/?fbclid", "http://example.org/"),
    ("http://[::1]:80/", "http://[::1]/"),
]

DIFFERENT = [
    ("http://example.org/x", "http://example.org/X"),
    ("http://example.org/x", "http://example.org/x/"),
    ("http://example.org/x", "https://example.org/x"),
    ("http://example.org/x", "http://www.example.org/x"),
    ("http://example.org/x", "http://example.org:8080/x"),
    ("http://example.org/?a=1&b=2", "http://example.org/?b=2&a=1"),
    ("http://example.org/?q=a%2Bb", "http://example.org/?q=a+b"),
    ("http://example.org/?q=a%26b", "http://example.org/?q=a&b"),
    ("http://example.org/?a=", "http://example.org/"),
    ("http://example.org/a%2Fb", "http://example.org/a/b"),
    ("http://example.org/#/one", "http://example.org/#/two"),
    ("http://example.org/#!one", "http://example.org/"),
    ("http://example.org/?ref=news", "http://example.org/"),
    ("http://example.org/?source=a", "http://example.org/?source=b"),
    ("http://user@example.org/", "http://example.org/"),
    ("http://example.org/?x=utm_source=1", "http://example.org/?x="),
    ("http://example.org/x?", "http://example.org/x"),
    ("http://example.org./", "http://example.org/"),
    ("http://../", "http://./"),
    ("http://example.org/a;b", "http://example.org/a%3Bb"),
    ("http://example.org/%2e%2e%2f", "http://example.org/"),
    ("http://example.org/a//b", "http://example.org/a/b"),
    ("http://[2001::1]/", "http://[2001::2]/"),
    ("http://example.org:81/", "http://example.org/"),
    ("http://ho%73t.example/%61%20b", "http://host.example/a+b"),
]


@pytest.mark.parametrize(("url", "same"), SAME)
def test_one_page_has_one_key(url: str, same: str) -> None:
    assert page_key(url) == page_key(same) == same


@pytest.mark.parametrize(("url", "other"), DIFFERENT)
def test_two_pages_have_two_keys(url: str, other: str) -> None:
    assert page_key(url) != page_key(other)


@pytest.mark.parametrize("url", ["mailto:a@example.org", "http://exa mple/", "http://[", "", "javascript:0", "http://"])
def test_what_is_no_web_address_is_its_own_key(url: str) -> None:
    assert page_key(page_key(url)) == page_key(url)


@given(
    st.builds(
        "{}://{}{}{}".format,
        st.sampled_from(["http", "https", "HTTP"]),
        st.sampled_from(["example.org", "EXAMPLE.org:80", "a.b.co.uk:443", "127.0.0.1:8000", "bücher.de", "u:p@h"]),
        st.text("/abAB.~%7eE9äü+;=", max_size=12).map(lambda path: "/" + path),
        st.one_of(
            st.just(""),
            st.text("ab&=?%2B+utm_", max_size=12).map(lambda query: "?" + query),
            st.text("/!ab?=%", max_size=8).map(lambda fragment: "#" + fragment),
        ),
    )
)
def test_keys_are_idempotent(url: str) -> None:
    assert page_key(page_key(url)) == page_key(url)


@pytest.mark.parametrize(
    ("url", "other", "same"),
    [
        ("https://a.example.org/", "https://b.example.org/x", True),
        ("https://example.org/", "http://example.org:8080/", True),
        ("https://example.co.uk/", "https://other.co.uk/", False),
        ("https://one.github.io/", "https://two.github.io/", False),
        ("http://127.0.0.1:1/", "http://127.0.0.1:2/", False),
        ("http://localhost:1/a", "http://localhost:1/b", True),
        ("not a url", "not a url", False),
    ],
)
def test_sites(url: str, other: str, same: bool) -> None:
    assert same_site(url, other) is same


@pytest.mark.parametrize(
    ("host", "private"),
    [
        ("127.0.0.1", True),
        ("10.1.2.3", True),
        ("192.168.0.1", True),
        ("169.254.169.254", True),
        ("::1", True),
        ("::ffff:10.0.0.1", True),
        ("fe80::1", True),
        ("localhost", True),
        ("LOCALHOST.", True),
        ("metadata.google.internal", True),
        ("example.org", False),
        ("8.8.8.8", False),
    ],
)
def test_private_hosts(host: str, private: bool) -> None:
    assert is_private(host) is private


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("file:///etc/hostname", "file:"),
        ("chrome://version", "chrome:"),
        ("view-source:http://example.org/", "view-source:"),
        ("javascript:alert(1)", "javascript:"),
        ("/relative", "relative"),
        ("http://", "no host"),
        ("http://127.0.0.1:5000/", "private"),
        ("http://[::ffff:127.0.0.1]/", "private"),
    ],
)
def test_refused_addresses_say_why(url: str, says: str) -> None:
    with pytest.raises(AddressRefused, match=says) as refused:
        check_address(url)
    assert refused.value.url == url
    assert refused.value.hint


def test_a_named_host_may_be_private() -> None:
    check_address("http://127.0.0.1:5000/", named_hosts={"127.0.0.1"})
    check_address("https://example.org/")
