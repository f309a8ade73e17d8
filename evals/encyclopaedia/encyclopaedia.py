"""The whole encyclopaedia, built from one seed.

Invariant: equal seeds give equal encyclopaedias.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evals.encyclopaedia.article import articles
from evals.encyclopaedia.kinds import load_country
from evals.encyclopaedia.overview import frame, overviews
from evals.encyclopaedia.search import Findable, SearchIndex
from evals.encyclopaedia.world import World, draw
from evals.site.page import Frame, Link, Page, block_links


@dataclass(frozen=True, slots=True, kw_only=True)
class Encyclopaedia:
    """The whole encyclopaedia.

    Attributes:
        seed: What it was built from.
        world: What is true.
        pages: All pages by path, the main page first.
        frame: What stands around every page.
        index: Finds articles.
    """

    seed: int
    world: World
    pages: Mapping[str, Page]
    frame: Frame
    index: SearchIndex

    def links(self, path: str) -> tuple[Link, ...]:
        """Return every link of a page but those of its frame, in document order.

        Raises:
            KeyError: There is no such page.
        """
        page = self.pages[path]
        return (*page.breadcrumbs, *(link for block in page.blocks for link in block_links(block)))


def build_encyclopaedia(seed: int = 7) -> Encyclopaedia:
    """Build the encyclopaedia that belongs to a seed."""
    world = draw(seed, load_country())
    written = [*overviews(seed, world), *articles(seed, world)]
    found = (Findable(title=each.page.title, path=each.page.path, text=each.text) for each in written if each.text)
    return Encyclopaedia(
        seed=seed,
        world=world,
        pages={each.page.path: each.page for each in written},
        frame=frame(world),
        index=SearchIndex(found, stop_words=world.country.lists["stop_words"]),
    )
