"""Observations for tests that need a page but no browser."""

from __future__ import annotations

from browser.action import Action, Visit
from browser.observation import Document, Link, Observation
from speccache.environment import Step

SITE = "http://site.test"


def page(path: str = "/", *, text: str = "", links: int = 0, **document: object) -> Observation:
    """A page of `SITE` with this text and links numbered from 1, each leading to `/page-<number>`."""
    numbered = tuple(
        Link(number=number, text=f"Page {number}", url=f"{SITE}/page-{number}") for number in range(1, links + 1)
    )
    markdown = text + "".join(f"\n[{link.text}][{link.number}]" for link in numbered)
    fields: dict[str, object] = {"requested_url": SITE + path, "url": SITE + path, "status": 200, **document}
    return Observation(document=Document(markdown=markdown, links=numbered, **fields), text=markdown)  # type: ignore[arg-type]


def walk(*pages: Observation) -> list[Step[Action, Observation]]:
    """The trajectory that visited these pages, one after the other."""
    return [Step(Visit(each.url), each) for each in pages]
