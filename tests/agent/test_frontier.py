from __future__ import annotations

from agent.predictors.embedding import Embedder
from agent.predictors.ranker import LinkRanker
from agent.targets.frontier import frontier, place
from browser.action import Action, Back, Visit
from browser.observation import Document, Link, Observation
from speccache.environment import Step

SITE = "http://site.test"
QUESTION = "How are deadlocks detected?"


def page(path: str, *links: tuple[str, str], requested: str | None = None) -> Observation:
    """A page with links given as text and address."""
    numbered = tuple(
        Link(number=number, text=text, url=url if "://" in url else SITE + url)
        for number, (text, url) in enumerate(links, 1)
    )
    return Observation(
        document=Document(requested_url=SITE + (requested or path), url=SITE + path, links=numbered), text=""
    )


def visit(observation: Observation) -> Step[Action, Observation]:
    return Step(Visit(observation.document.requested_url), observation)


async def paths(*steps: Step[Action, Observation], ranker: LinkRanker | None = None) -> list[str]:
    found = await frontier(QUESTION, steps, ranker or LinkRanker(Embedder()))
    return [candidate.link.url.removeprefix(SITE) for candidate in found]


ROOT = page("/", ("Cooking", "/cooking"), ("Concurrency control", "/concurrency"), ("Error codes", "/errors"))
CONCURRENCY = page("/concurrency", ("Deadlocks", "/deadlocks"), ("Home", "/"), ("Cooking", "/cooking"))


async def test_the_best_of_all_pages_comes_first_and_pages_read_are_gone() -> None:
    ranker = LinkRanker(Embedder())

    assert (await paths(visit(ROOT), ranker=ranker))[0] == "/concurrency"
    assert await paths(visit(ROOT), visit(CONCURRENCY), ranker=ranker) == ["/deadlocks", "/cooking", "/errors"]


async def test_among_equals_the_links_that_only_the_page_read_last_has_come_first() -> None:
    menu = (("Deadlocks", "/old"), ("Cooking", "/cooking"))
    steps = [visit(page("/", *menu)), visit(page("/concurrency", *menu, ("Deadlocks", "/new")))]

    assert await paths(*steps) == ["/new", "/old", "/cooking"]


async def test_a_much_better_link_of_an_earlier_page_comes_before_those_of_the_page_read_last() -> None:
    steps = [
        visit(page("/", ("Cooking", "/cooking"), ("Deadlocks", "/old"))),
        visit(page("/cooking", ("Soup", "/soup"))),
    ]

    assert await paths(*steps) == ["/old", "/soup"]


async def test_a_page_seen_again_changes_nothing() -> None:
    steps = [visit(ROOT), visit(CONCURRENCY)]

    assert await paths(*steps, Step(Back(), ROOT)) == await paths(*steps)


async def test_a_redirected_page_counts_as_read_by_both_addresses() -> None:
    moved = page("/new", ("Deadlocks", "/deadlocks"), requested="/concurrency")

    assert "/concurrency" not in await paths(visit(ROOT), visit(moved))


async def test_links_with_effects_off_site_or_to_the_same_page_are_never_followed() -> None:
    root = page(
        "/",
        ("Log out", "/logout"),
        ("Deadlocks", "https://elsewhere.example/deadlocks"),
        ("Top", "/#top"),
        ("Manual", "/m"),
    )

    assert await paths(visit(root)) == ["/m"]


async def test_one_page_is_one_candidate_by_its_best_link() -> None:
    root = page("/", ("Here", "/d#one"), ("Deadlocks", "/d#two"), ("There", "/d"))

    assert await paths(visit(root)) == ["/d#two"]


async def test_a_place_on_a_page_read_already_comes_last() -> None:
    root = page("/", ("Guide", "/#/guide"), ("Cooking", "/#/cooking"))
    guide = page("/#/guide", ("Deadlocks", "/#/guide?id=deadlocks"), ("Deadlock detection", "/#/guide#detection"))

    found = await paths(visit(root), visit(guide))

    assert found[0] == "/#/cooking"
    assert set(found[1:]) == {"/#/guide?id=deadlocks", "/#/guide#detection"}


def test_place() -> None:
    assert place("http://s/#/guide?id=x") == place("http://s/#/guide%23x") == "http://s/#/guide"
    assert place("http://s/item?id=5") == "http://s/item?id=5"


async def test_a_page_without_links_leaves_what_was_known() -> None:
    assert await paths(visit(page("/"))) == []
    assert await paths(visit(ROOT), visit(page("/errors"))) == ["/concurrency", "/cooking"]
