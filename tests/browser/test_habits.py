"""What is remembered of pages, and for how long."""

from __future__ import annotations

from browser.habits import Habits

SITE = "http://example.org"


def test_polls_belong_to_a_host_and_path() -> None:
    habits = Habits()
    habits.learn(f"{SITE}/page?a=1#x", [f"{SITE}/poll?t=1", f"{SITE}/poll?t=2"])
    assert habits.polls(f"{SITE}/page?b=2") == {f"{SITE}/poll"}
    assert habits.polls(f"{SITE}/other") == frozenset()
    assert habits.polls("https://example.org/page") == frozenset()


def test_what_is_learned_later_is_added() -> None:
    habits = Habits()
    habits.learn(SITE, [f"{SITE}/a"])
    habits.learn(SITE, [])
    habits.learn(SITE, [f"{SITE}/b"])
    assert habits.polls(SITE) == {f"{SITE}/a", f"{SITE}/b"}


def test_pages_and_polls_are_bounded() -> None:
    habits = Habits(max_pages=2)
    for number in range(4):
        habits.learn(f"{SITE}/{number}", [f"{SITE}/poll/{poll}" for poll in range(50)])
    habits.learn(f"{SITE}/quiet", [])
    assert len(habits) == 2
    assert habits.polls(f"{SITE}/1") == frozenset()
    assert len(habits.polls(f"{SITE}/3")) == 20
