"""One entry for each address, and what it keeps of the links that lead there."""

from __future__ import annotations

import pytest
from playwright.async_api import Page

from browser.destination import resolve
from browser.observation import Document, Observation
from browser.page import load
from browser.speculation.gate import refusal
from tests.browser.pages import Site


async def read(page: Page, site: Site, html: str) -> Document:
    site.put("/", html)
    document = await load(page, site.url("/"))
    assert document.problem is None
    return document


async def test_an_address_has_one_number_its_best_name_and_its_first_context(page: Page, site: Site) -> None:
    document = await read(
        page,
        site,
        "<p>Menu: <a href=/tea>Tea</a> <a href=/milk>Milk</a></p><h2>Drinks</h2>"
        "<p>Read <a href=/tea>how tea is grown</a> <a href=/tea><img alt='A photo of a field of tea'></a></p>",
    )
    assert document.markdown == (
        "Menu: [Tea][1] [Milk][2]\n\n## Drinks\n\nRead [how tea is grown][1] [A photo of a field of tea][1]"
    )
    tea, milk = document.links
    assert (tea.number, tea.text, tea.context) == (1, "how tea is grown", "Menu: Tea Milk")
    assert tea.other_texts == ("Tea", "A photo of a field of tea")
    assert (milk.number, milk.text, milk.other_texts) == (2, "Milk", ())
    seen = Observation(document=document, text=document.markdown)
    for name in ("1", "tea", "How tea is grown"):
        assert resolve(name, seen) == site.url("/tea")


@pytest.mark.parametrize(
    "other",
    [
        "<a href=/x target=_blank>",
        "<a href=/x download>",
        "<a href=/x onclick='go()'>",
        "<a href=/x#part>",
        "<a href='/x?'>",
    ],
)
async def test_what_does_something_else_is_another_link(page: Page, site: Site, other: str) -> None:
    document = await read(page, site, f"<a href=/x>One</a> {other}Two</a> <a href=/x target=_self>Three</a>")
    assert document.markdown.split("\n\n")[0].startswith("[One][1] [")
    numbers = {link.text: link.number for link in document.links}
    assert numbers["Three"] == 1
    assert numbers.get("Two") != 1


async def test_a_link_that_its_own_script_listens_to_is_another_link(page: Page, site: Site) -> None:
    script = "<script>two.addEventListener('click', () => {})</script>"
    document = await read(page, site, f"<a href=/x>One</a> <a id=two href=/x>Two</a>{script}")
    assert [link.text for link in document.links] == ["One", "Two"]


async def test_links_in_a_frame_have_numbers_of_their_own(page: Page, site: Site) -> None:
    site.put("/frame", "<a href=/x>Inside</a>")
    document = await read(page, site, "<a href=/x>Outside</a><iframe src=/frame></iframe>")
    assert [(link.number, link.text) for link in document.links] == [(1, "Outside"), (2, "Inside")]


@pytest.mark.parametrize(
    ("links", "reason"),
    [
        ("<a href=/x>Page</a> <a href=/x rel='noopener NoFollow'>Page too</a>", "nofollow"),
        ("<a href=/x>A much longer and harmless name</a> <a href=/x>Log out</a>", "effect-text"),
        ("<a href=/x>→</a><div style='display:none'><a href=/x>Log out</a></div>", "effect-text"),
        ("<a href=/x>Next</a><nav hidden><a href=/x rel=nofollow>Next</a></nav>", "nofollow"),
        ("<a href=/x aria-label='Delete entry'>Entry</a>", "effect-text"),
        ("<a href=/x title='Delete entry'>Entry</a>", "effect-text"),
        ("<a href=/x>Page</a> <a href=/x hreflang=de>Seite</a>", "language-switch"),
        ("<a href=/x>Page</a> <a href=/x>Page two</a>", None),
    ],
)
async def test_what_speaks_against_one_link_speaks_against_its_address(
    page: Page, site: Site, links: str, reason: str | None
) -> None:
    document = await read(page, site, links)
    (link,) = document.links
    assert refusal(link, page_url=document.url) == reason


async def test_a_link_that_only_looks_like_a_button_is_a_link(page: Page, site: Site) -> None:
    document = await read(
        page,
        site,
        "<a href=/x role=button>Go</a> <a href=/y role=button data-method=delete>Drop</a> "
        "<a href='#' role=button>Menu</a>",
    )
    assert [link.text for link in document.links] == ["Go"]
    assert [control.name for control in document.controls] == ["Drop", "Menu"]


async def test_the_areas_of_an_image_are_links(page: Page, site: Site) -> None:
    document = await read(
        page,
        site,
        "<img usemap='#m' width=90 height=90><map name=m>"
        "<area href=/north alt=North><area href=/south alt=South></map>",
    )
    assert [link.text for link in document.links] == ["North", "South"]
