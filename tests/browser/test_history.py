"""Where a session has been: a walk that never ends keeps a bounded number of pages."""

from __future__ import annotations

from browser.history import MAX_PAGES, History
from tests.agent.pages import page


def test_the_first_pages_of_a_long_walk_are_forgotten() -> None:
    history = History()
    for number in range(MAX_PAGES + 5):
        history.push(page(f"/{number}"))
    assert history.here is not None
    assert history.here.url.endswith(f"/{MAX_PAGES + 4}")
    assert len(history.pages) == MAX_PAGES
    assert history.move(-1)
    assert history.here.url.endswith(f"/{MAX_PAGES + 3}")
    history.push(page("/new"))
    assert history.here.url.endswith("/new")
    assert not history.move(1)
    assert not history.move(-MAX_PAGES)
