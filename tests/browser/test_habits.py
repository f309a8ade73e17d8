"""What is remembered of pages, and for how long."""

from __future__ import annotations

from browser.reading.habits import Habit, Habits

SITE = "http://example.org"


def polling(*urls: str) -> Habit:
    return Habit(polls=frozenset(urls))


def test_polls_belong_to_a_host_and_path() -> None:
    habits = Habits()
    habits.learn(f"{SITE}/page?a=1#x", polling(f"{SITE}/poll?t=1", f"{SITE}/poll?t=2"))
    assert habits.expected(f"{SITE}/page?b=2").polls == {f"{SITE}/poll"}
    assert habits.expected(f"{SITE}/other").polls == frozenset()
    assert habits.expected("https://example.org/page").polls == frozenset()


def test_polls_that_are_learned_later_are_added() -> None:
    habits = Habits()
    habits.learn(SITE, polling(f"{SITE}/a"))
    habits.learn(SITE, Habit())
    habits.learn(SITE, polling(f"{SITE}/b"))
    assert habits.expected(SITE).polls == {f"{SITE}/a", f"{SITE}/b"}


def test_pages_and_polls_are_bounded() -> None:
    habits = Habits(max_pages=2)
    for number in range(4):
        habits.learn(f"{SITE}/{number}", polling(*(f"{SITE}/poll/{poll}" for poll in range(50))))
    habits.learn(f"{SITE}/quiet", Habit())
    assert len(habits) == 2
    assert habits.expected(f"{SITE}/1") == Habit()
    assert len(habits.expected(f"{SITE}/3").polls) == 20


def test_a_page_has_as_much_text_as_the_last_time_it_could_be_told() -> None:
    habits = Habits()
    habits.learn(f"{SITE}/a", Habit(characters=900))
    habits.learn(f"{SITE}/a", Habit(characters=700))
    habits.learn(f"{SITE}/a", Habit())
    assert habits.expected(f"{SITE}/a").characters == 700
    assert habits.expected(f"{SITE}/b").characters == 0


def test_all_pages_of_a_site_are_as_late_as_its_latest_of_the_last_eight() -> None:
    habits = Habits()
    habits.learn(f"{SITE}/late", Habit(late_milliseconds=80.0))
    assert habits.expected(f"{SITE}/other").late_milliseconds == 80.0
    assert habits.expected("http://example.com/other").late_milliseconds == 0.0
    for number in range(8):
        habits.learn(f"{SITE}/{number}", Habit(characters=5))
    assert habits.expected(f"{SITE}/other").late_milliseconds == 0.0
    assert habits.expected(f"{SITE}/late").late_milliseconds == 80.0


def test_another_route_or_query_has_a_text_of_its_own_and_the_same_requests() -> None:
    habits = Habits()
    habits.learn("http://site.test/app#/one", Habit(characters=500, polls=frozenset({"http://site.test/poll?t=1"})))
    for other in ("http://site.test/app#/two", "http://site.test/app?page=2"):
        assert habits.expected(other).characters == 0
        assert habits.expected(other).polls == {"http://site.test/poll"}
    assert habits.expected("http://site.test/app#/one").characters == 500
