"""The frontier of a walk: the links seen and not yet followed, the most promising first.

Target and predictor of the embedded default read the same frontier; that is why their guesses come true. Invariant: it
depends on the question and the trajectory alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from agent.predictors.ranker import LinkRanker
from browser.action import Action, Visit
from browser.address import page_key
from browser.observation import Link, Observation
from browser.speculation.gate import refusal
from speccache.environment import Step

Trajectory = Sequence[Step[Action, Observation]]

NEAR = 0.3
"""What a link gains on the page read last, and once more where no earlier page has it: readers go on from where they
are (it raises recall at 3 from 0.73 to 0.80 on 344 pages of the suite `walks`, seeds 1 to 3, and from 0.45 to 0.58 on
163 of `encyclopaedia`, seed 8; 0.2 to 0.4 do about as well)."""

_PLACE_ON_PAGE = re.compile(r"\?|#|%23")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A link that may be followed next.

    Attributes:
        link: The link; of several to one page, the one that fits the question best.
        page_url: The page it stands on.
        score: The ranker's, and up to twice `NEAR` more; comparable over all pages.
    """

    link: Link
    page_url: str
    score: float

    @property
    def key(self) -> str:
        """Which page it leads to."""
        return page_key(self.link.url)


async def frontier(question: str, trajectory: Trajectory, ranker: LinkRanker) -> tuple[Candidate, ...]:
    """Return what may be followed next, the most promising first.

    Links that leave the site, download, or may have an effect are never in it (`browser.speculation.gate`).

    Raises:
        ConfigurationError: The embedding model is not installed as it should be.
    """
    found: dict[str, Candidate] = {}
    read: set[str] = set()
    here: set[str] = set()
    new: set[str] = set()
    for step in trajectory:
        if page_key(step.observation.url) not in read:
            offers = await _offered(question, step.observation, ranker)
            here = {candidate.key for candidate in offers}
            new = here - found.keys()
            for candidate in offers:
                known = found.get(candidate.key)
                if known is None or candidate.score > known.score:
                    found[candidate.key] = candidate
        read |= _keys(step)
    places = {place(key) for key in read}
    unread = [
        replace(candidate, score=candidate.score + NEAR * ((key in here) + (key in new)))
        for key, candidate in found.items()
        if key not in read
    ]
    # Among equals the one found earlier comes first: `sorted` is stable.
    return tuple(sorted(unread, key=lambda candidate: (place(candidate.key) in places, -candidate.score)))


def place(key: str) -> str:
    """Shorten a page key to its route: behind `?` or a second `#`, a hash route mostly names a place on the page."""
    address, mark, route = key.partition("#")
    return address + mark + _PLACE_ON_PAGE.split(route, maxsplit=1)[0]


def _keys(step: Step[Action, Observation]) -> set[str]:
    document = step.observation.document
    keys = {page_key(document.url), page_key(document.requested_url)}
    return keys | {page_key(step.action.target)} if isinstance(step.action, Visit) else keys


def offered(page: Observation) -> tuple[Link, ...]:
    """Return the links of a page that may be followed and lead elsewhere."""
    here = page_key(page.url)
    return tuple(link for link in page.links if page_key(link.url) != here and _allowed(link, page.url))


def unread(trajectory: Trajectory) -> tuple[Link, ...]:
    """Return the links of the last page that may be followed and lead to pages not yet read, one for each page."""
    read = {key for step in trajectory for key in _keys(step)}
    links: dict[str, Link] = {}
    for link in offered(trajectory[-1].observation):
        links.setdefault(page_key(link.url), link)
    return tuple(link for key, link in links.items() if key not in read)


async def _offered(question: str, page: Observation, ranker: LinkRanker) -> list[Candidate]:
    links = offered(page)
    scores = await ranker.scores(question, links)
    return [Candidate(link=link, page_url=page.url, score=score) for link, score in zip(links, scores, strict=True)]


@lru_cache(maxsize=65_536)
def _allowed(link: Link, page_url: str) -> bool:
    return refusal(link, page_url=page_url) is None
