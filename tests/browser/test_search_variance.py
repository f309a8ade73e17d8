"""Which addresses name one page, by the rules and examples of the No-Vary-Search draft."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser.address import page_key
from browser.speculation.page_names import PageNames
from browser.speculation.search_variance import SearchVariance, parse

SITE = "https://example.org"
DEFAULT = SearchVariance()


@pytest.mark.parametrize(
    ("header", "variance"),
    [
        ("key-order", SearchVariance(key_order=False)),
        ("key-order=?1", SearchVariance(key_order=False)),
        ("params", SearchVariance(only=frozenset())),
        ('params=("a" "b")', SearchVariance(ignored=frozenset("ab"))),
        ('params=("a";x=1 "b");y', SearchVariance(ignored=frozenset("ab"))),
        ('params, except=("id")', SearchVariance(only=frozenset({"id"}))),
        ('key-order, params, except=("id"), later=1', SearchVariance(only=frozenset({"id"}), key_order=False)),
        ('params=("%C3%A9+%E6%B0%97")', SearchVariance(ignored=frozenset({"é 気"}))),
    ],
)
def test_reads_a_header(header: str, variance: SearchVariance) -> None:
    assert parse(header) == variance


@pytest.mark.parametrize(
    "header",
    [
        *("", "params=?0", "params=()", "key-order=?0"),
        *("unknown-key", 'key-order="not a boolean"', "key-order=1", 'params="not a boolean or inner list"'),
        *("params=(not-a-string)", 'params=("a"), except=("x")', "params=(), except=()", 'params=?0, except=("x")'),
        *("params, except=(not-a-string)", 'params, except="not an inner list"', "params, except=?1"),
        *('except=("x")', "except=()", 'params=("a"', "params,", 'params=("é")', "Params"),
    ],
)
def test_what_it_cannot_understand_says_nothing(header: str) -> None:
    assert parse(header) == DEFAULT


@pytest.mark.parametrize(
    ("url", "other", "header"),
    [
        ("/?a=1&b=2", "/?b=2&a=1", "key-order"),
        ("/?a=1&b=2&a=3", "/?a=1&a=3&b=2", "key-order"),
        ("/?a=1&id=5", "/?id=5&b=2", 'params, except=("id")'),
        ("/?a=1", "/", "params"),
        ("/?ref=1&q=x", "/?q=x&ref=2", 'params=("ref")'),
        ("/?é 気=1", "/?%C3%A9+%E6%B0%97=4", 'params=("%C3%A9+%E6%B0%97")'),
        ("/?a=b&&&c", "/?a=b&c=", "key-order"),
        ("/?q=x#/route", "/?q=x&ref=2#/route", 'params=("ref")'),
    ],
)
def test_two_addresses_of_one_page(url: str, other: str, header: str) -> None:
    variance = parse(header)
    assert variance.key(SITE + url) == variance.key(SITE + other)


@pytest.mark.parametrize(
    ("url", "other", "header"),
    [
        ("/?a=1&b=2", "/?b=2&a=1", ""),
        ("/?a=b&&&c", "/?a=b&c=", ""),
        ("/?a=1", "/?a=2", "key-order"),
        ("/?a=1&a=2", "/?a=2&a=1", "key-order"),
        ("/?a=1", "/b?a=1", "params"),
        ("/?id=5", "/?id=6", 'params, except=("id")'),
        ("/?q=x&ref=1", "/?q=y&ref=1", 'params=("ref")'),
        ("/?q=x#/route", "/?q=x#/other", "params"),
    ],
)
def test_two_pages(url: str, other: str, header: str) -> None:
    variance = parse(header)
    assert variance.key(SITE + url) != variance.key(SITE + other)


def test_finds_a_learned_page_by_its_other_addresses() -> None:
    names = PageNames()
    names.learn(f"{SITE}/s?q=x&ref=1", 'params=("ref")')
    assert names.key(f"{SITE}/s?ref=2&q=x") == f"{SITE}/s?q=x&ref=1"
    assert names.key(f"{SITE}/s?q=y&ref=1") == f"{SITE}/s?q=y&ref=1"
    assert names.key(f"{SITE}/t?ref=2&q=x") == f"{SITE}/t?ref=2&q=x"


def test_what_a_page_said_earlier_no_longer_counts() -> None:
    names = PageNames()
    names.learn(f"{SITE}/s?a=1&b=2", 'params=("a")')
    names.learn(f"{SITE}/s?c=1", 'params=("c")')
    assert names.key(f"{SITE}/s?b=2") == f"{SITE}/s?b=2"
    names.learn(f"{SITE}/s", "")
    assert names.key(f"{SITE}/s?c=2") == f"{SITE}/s?c=2"


def test_remembers_a_bounded_number_of_pages() -> None:
    names = PageNames(max_pages=2)
    for number in range(5):
        names.learn(f"{SITE}/{number}?a=1", "params")
    assert len(names) == 2
    assert names.key(f"{SITE}/4?a=2") == f"{SITE}/4?a=1"
    assert names.key(f"{SITE}/0?a=2") == f"{SITE}/0?a=2"


PARAMETERS = st.sampled_from(["a", "b", "id", "utm_x", "é 気"])
VARIANCES = st.builds(
    SearchVariance,
    ignored=st.frozensets(PARAMETERS),
    only=st.none() | st.frozensets(PARAMETERS),
    key_order=st.booleans(),
)
QUERIES = st.text() | st.lists(st.sampled_from([*"ab=&+%;/?#é", "id", "%26", "%5F", "utm_x", "utm%5Fx"])).map("".join)


@given(st.text() | st.from_regex(r'(params|except|key-order|[=,;?()" ]|\?[01]|"\w")*', fullmatch=True))
def test_any_header_can_be_read(header: str) -> None:
    parse(header)


@given(VARIANCES, QUERIES)
def test_a_key_is_its_own_key(variance: SearchVariance, query: str) -> None:
    key = variance.key(f"{SITE}/path?{query}")
    assert variance.key(key) == key


@given(VARIANCES, st.text())
def test_whatever_is_no_url_has_a_key(variance: SearchVariance, text: str) -> None:
    key = variance.key(text)
    assert variance.key(key) == key


@given(VARIANCES, QUERIES, QUERIES)
def test_equal_page_keys_stay_equal(variance: SearchVariance, query: str, other: str) -> None:
    url, another = f"{SITE}/path?{query}", f"{SITE}/path?{other}"
    assert page_key(url) != page_key(another) or variance.key(url) == variance.key(another)
