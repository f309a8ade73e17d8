"""When a host is spared speculative loads, by a clock ticked by hand."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from browser.speculation.politeness import Politeness, PolitenessOptions
from speccache.errors import Unspeculable

NOON_SECONDS = 1_767_268_800.0  # Thu, 01 Jan 2026 12:00:00 GMT
URL = "https://example.org/a"


class Clock:
    def __init__(self) -> None:
        self.seconds = NOON_SECONDS

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def politeness(clock: Clock) -> Politeness:
    return Politeness(clock=clock)


def quiet_seconds(politeness: Politeness, clock: Clock) -> int:
    """Tick until the host may be asked again, and say for how long that was."""
    started_seconds = clock.seconds
    while politeness.refusal(URL) == "retry-after":
        clock.seconds += 1
    return int(clock.seconds - started_seconds)


def test_an_unknown_host_may_be_loaded_from(politeness: Politeness) -> None:
    assert politeness.refusal(URL) is None


@pytest.mark.parametrize(
    ("retry_after", "seconds"),
    [
        ("120", 120),
        (" 7 ", 7),
        ("Thu, 01 Jan 2026 12:01:30 GMT", 90),
        ("Thursday, 01-Jan-26 12:01:30 GMT", 90),
        ("Thu, 01 Jan 2026 12:01:30 -0000", 90),
        ("86400", 600),  # the cap
        ("9" * 400, 600),
        ("Fri, 02 Jan 2026 12:00:00 GMT", 600),
        ("0", 30),  # no time asked for: the first back-off
        ("Thu, 01 Jan 2026 11:00:00 GMT", 30),
        ("-5", 30),
        ("soon", 30),
        ("", 30),
        ("¹", 30),
    ],
)
def test_leaves_an_overloaded_host_alone(politeness: Politeness, clock: Clock, retry_after: str, seconds: int) -> None:
    politeness.observe(URL, status=429, headers={"retry-after": retry_after})
    assert politeness.refusal("https://example.org/another") == "retry-after"
    assert politeness.refusal("https://example.com/") is None
    assert quiet_seconds(politeness, clock) == seconds


def test_backs_off_twice_as_long_each_time_up_to_the_cap(politeness: Politeness, clock: Clock) -> None:
    waits = []
    for _ in range(7):
        politeness.observe(URL, status=503, headers={})
        waits.append(quiet_seconds(politeness, clock))
    assert waits == [30, 60, 120, 240, 480, 600, 600]
    politeness.observe(URL, status=404, headers={})
    politeness.observe(URL, status=503, headers={})
    assert quiet_seconds(politeness, clock) == 30


def test_loads_refused_side_by_side_count_once(politeness: Politeness, clock: Clock) -> None:
    for _ in range(4):
        politeness.observe(URL, status=429, headers={})
    assert quiet_seconds(politeness, clock) == 30


def test_a_later_answer_never_shortens_the_wait(politeness: Politeness, clock: Clock) -> None:
    politeness.observe(URL, status=503, headers={"retry-after": "100"})
    politeness.observe(URL, status=503, headers={"retry-after": "5"})
    politeness.observe(URL, status=200, headers={})
    assert quiet_seconds(politeness, clock) == 100


def test_a_page_refused_to_prefetches_says_nothing_of_its_host(politeness: Politeness, clock: Clock) -> None:
    politeness.observe(URL, status=503, headers={"cf-speculation-refused": "prefetch refused: ineligible"})
    assert politeness.refusal(URL + "?utm_source=x#part") == "speculation-refused"
    assert politeness.refusal("https://example.org/b") is None
    clock.seconds += 600
    assert politeness.refusal(URL) is None


@pytest.mark.parametrize("status", [200, 301, 404, 500])
def test_other_answers_change_nothing(politeness: Politeness, status: int) -> None:
    politeness.observe(URL, status=status, headers={"retry-after": "120"})
    assert politeness.refusal(URL) is None


def test_bounds_the_loads_of_one_host(politeness: Politeness) -> None:
    with ExitStack() as loads:
        for number in range(4):
            loads.enter_context(politeness.load(f"https://example.org/{number}"))
        assert politeness.refusal(URL) == "host-busy"
        with pytest.raises(Unspeculable, match="host-busy"), politeness.load(URL):
            pass
        assert politeness.refusal("https://example.org:8443/") is None
        assert repr(politeness) == "<Politeness running=4 hosts=1 quiet=0 pages=0>"
    assert repr(politeness) == "<Politeness running=0 hosts=1 quiet=0 pages=0>"
    assert politeness.refusal(URL) is None


def test_a_failed_load_is_no_longer_counted(politeness: Politeness) -> None:
    with pytest.raises(RuntimeError, match="broken"), politeness.load(URL):
        raise RuntimeError("broken")
    assert repr(politeness) == "<Politeness running=0 hosts=1 quiet=0 pages=0>"


def test_keeps_the_crawl_delay(clock: Clock) -> None:
    politeness = Politeness(crawl_delay_seconds=lambda url: 10.0 if "example.org" in url else 0.0, clock=clock)
    for url in (URL, "https://example.com/"):
        with politeness.load(url):
            pass
    assert politeness.refusal("https://example.com/") is None
    clock.seconds += 9.5
    assert politeness.refusal(URL) == "crawl-delay"
    clock.seconds += 0.5
    assert politeness.refusal(URL) is None


def test_forgets_the_host_unused_for_longest_but_none_that_is_busy(clock: Clock) -> None:
    politeness = Politeness(options=PolitenessOptions(max_hosts=2), clock=clock)
    with politeness.load("https://busy.example/"):
        for host in ("a", "b", "c"):
            politeness.observe(f"https://{host}.example/", status=429, headers={})
        refusals = {host: politeness.refusal(f"https://{host}.example/") for host in ("a", "b", "c")}
        assert refusals == {"a": None, "b": None, "c": "retry-after"}
        assert repr(politeness) == "<Politeness running=1 hosts=2 quiet=1 pages=0>"
    assert repr(politeness) == "<Politeness running=0 hosts=2 quiet=1 pages=0>"


def test_a_new_host_is_counted_even_where_all_others_are_busy(clock: Clock) -> None:
    politeness = Politeness(options=PolitenessOptions(max_hosts=1), clock=clock)
    with politeness.load("https://a.example/"), politeness.load("https://b.example/"):
        assert repr(politeness) == "<Politeness running=2 hosts=2 quiet=0 pages=0>"


def test_loading_ahead_leaves_the_rate_to_real_loads(clock: Clock) -> None:
    politeness = Politeness(options=PolitenessOptions(max_loads_per_second=3.0), clock=clock)
    with politeness.load(URL):
        assert politeness.refusal(URL) is None
    with politeness.load(URL):
        assert politeness.refusal(URL) == "host-rate", "one of the three is left"
    assert politeness.refusal("https://example.com/") is None
    clock.seconds += 1.0
    assert politeness.refusal(URL) is None
    for _ in range(5):
        politeness.began(URL)  # real loads do not ask
    assert politeness.refusal(URL) == "host-rate"
    clock.seconds += 1.0
    assert politeness.refusal(URL) is None


def test_a_rate_of_one_leaves_nothing_to_load_ahead(clock: Clock) -> None:
    politeness = Politeness(options=PolitenessOptions(max_loads_per_second=0.5), clock=clock)
    assert politeness.refusal(URL) == "host-rate"


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d+ \w+ \d+ [\d:]+ ?\S*"))
def test_any_retry_after_ends_within_the_cap(retry_after: str) -> None:
    clock = Clock()
    politeness = Politeness(clock=clock)
    politeness.observe(URL, status=429, headers={"retry-after": retry_after})
    assert politeness.refusal(URL) == "retry-after"
    clock.seconds += 600
    assert politeness.refusal(URL) is None
