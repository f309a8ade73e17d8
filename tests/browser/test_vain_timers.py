"""Timers that bring nothing are passed over once that is well seen, and never where it cannot be told."""

from __future__ import annotations

import pytest
from playwright.async_api import Page

from browser.page import load
from browser.reading.habits import Habit, Habits
from browser.reading.vain_timers import VainTimers
from tests.browser.pages import Site

SITE = "http://example.org"
HIDE = "200 () => { bar.style.opacity = 0 }"
VAIN = frozenset({HIDE})
NONE: frozenset[str] = frozenset()

FILLER = "<p>" + "This text is here from the start, and there is enough of it. " * 6 + "</p>"
BAR = "<div id=bar></div><main hidden>The text that was waited for.</main>"


def test_a_timer_is_passed_over_when_it_was_twice_seen_to_bring_nothing() -> None:
    timers = VainTimers()
    timers.learn(vain=VAIN, fruitful=NONE)
    assert timers.trusted() == NONE
    timers.learn(vain=VAIN, fruitful=NONE)
    assert timers.trusted() == VAIN


def test_a_timer_is_looked_at_again_after_eight_loads() -> None:
    timers = VainTimers()
    for _ in range(2):
        timers.learn(vain=VAIN, fruitful=NONE)
    for _ in range(8):
        assert timers.trusted() == VAIN
        timers.learn(vain=NONE, fruitful=NONE)
    assert timers.trusted() == NONE
    timers.learn(vain=VAIN, fruitful=NONE)
    assert timers.trusted() == VAIN


def test_a_timer_that_text_followed_has_to_bring_nothing_far_more_often() -> None:
    timers = VainTimers()
    for _ in range(2):
        timers.learn(vain=VAIN, fruitful=NONE)
    timers.learn(vain=NONE, fruitful=VAIN)
    for _ in range(8):
        assert timers.trusted() == NONE
        timers.learn(vain=VAIN, fruitful=NONE)
    assert timers.trusted() == VAIN


def test_timers_are_bounded_and_belong_to_a_folder() -> None:
    habits = Habits()
    many = frozenset(f"{number} () => {{}}" for number in range(30))
    for name in ("a", "b"):
        habits.learn(f"{SITE}/docs/{name}#/x", Habit(vain_timers=many))
    assert len(habits.expected(f"{SITE}/docs/c").vain_timers) == 20
    assert habits.expected(f"{SITE}/blog/c").vain_timers == NONE
    assert habits.expected(f"{SITE}/docs/a").fruitful_timers == NONE


async def learned(page: Page, site: Site, habits: Habits, callback: str) -> frozenset[str]:
    """Load a page that puts this off twice, and return what is passed over from then on."""
    names = "const main = document.querySelector('main'); bar.fill = window.fill = () => {}"
    site.put("/", f"{BAR}{FILLER}<script>{names}; setTimeout({callback}, 60)</script>")
    for _ in range(2):
        document = await load(page, site.url("/"), habits=habits)
        assert document.problem is None
    return habits.expected(site.url("/")).vain_timers


@pytest.mark.parametrize(
    "callback",
    [
        "() => { bar.style.opacity = 0 }",
        "function () { if (bar) { bar.classList.add('done'), bar.removeAttribute('aria-valuenow') } }",
    ],
)
async def test_what_changes_only_the_looks_of_nothing_is_learned(page: Page, site: Site, callback: str) -> None:
    assert await learned(page, site, Habits(), callback) == {f"60 {callback}"}


@pytest.mark.parametrize(
    "callback",
    [
        pytest.param("() => { main.removeAttribute('hidden') }", id="shows text"),
        pytest.param("() => { document.body.style.visibility = 'hidden' }", id="hides text"),
        pytest.param("() => { bar.setAttribute('hidden', 'until-found'), main.toggleAttribute('hidden') }", id="both"),
        pytest.param("() => fill()", id="calls a function"),
        pytest.param("() => bar.fill?.()", id="calls a method"),
        pytest.param("() => { (bar.fill)?.() }", id="calls in brackets"),
        pytest.param("() => { bar[`title`]?.fill`` }", id="calls with a template"),
        pytest.param("() => { bar.value = 1 }", id="assigns"),
        pytest.param("() => { window.name += 'x' }", id="assigns to the window"),
        pytest.param("(() => {}).bind(null)", id="bound"),
        pytest.param("bar.remove", id="native"),
        pytest.param("() => { this.shown }", id="of some object"),
    ],
)
async def test_what_may_bring_something_is_not_learned(page: Page, site: Site, callback: str) -> None:
    assert await learned(page, site, Habits(), callback) == NONE


async def test_a_learned_timer_is_passed_over_except_on_a_page_that_owes_its_text(page: Page, site: Site) -> None:
    habits = Habits()
    callback = "() => { shown.style.display = 'block' }"
    html = "<div id=shown style='display: none'>{}</div>{}<script>setTimeout({}, 240)</script>"
    site.put("/", html.format("", FILLER, callback))
    for _ in range(2):
        seen = await load(page, site.url("/"), habits=habits)
        assert seen.timings.settle_seconds >= 0.2
    assert min([(await load(page, site.url("/"), habits=habits)).timings.settle_seconds for _ in range(4)]) < 0.2
    site.put("/", html.format("The text that was waited for.", "", callback))
    assert (await load(page, site.url("/"), habits=habits)).markdown == "The text that was waited for."
    assert habits.expected(site.url("/")).vain_timers == NONE
