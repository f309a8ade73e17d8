"""What the steps of a known way mean on the pages seen so far.

Invariant: a step means one action or none, and which one depends on the trajectory alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agent.targets.frontier import Trajectory
from browser.action import Action, Search, Visit
from browser.address import page_key
from browser.observation import Link, Observation
from evals.suites.item import SEARCH, Item
from speccache.environment import Step

_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class WayStep:
    """A step of a known way.

    Attributes:
        text: See `evals.suites.item.Item.golden`.
        begins: Whether it is its way's first.
        ends: Whether it is its way's last.
    """

    text: str
    begins: bool = False
    ends: bool = False


def steps_of(item: Item) -> tuple[WayStep, ...]:
    """Return the steps of all ways, one way after the other; where none is known, straight to each source."""
    ways = item.golden or tuple((source,) for source in item.sources)
    return tuple(
        WayStep(text=text, begins=number == 1, ends=number == len(way))
        for way in ways
        for number, text in enumerate(way, 1)
    )


def meant(text: str, *, address: str, pages: Sequence[Observation]) -> Action | None:
    """Turn a step into an action.

    Args:
        text: The step's.
        address: The site's address, without a slash at its end.
        pages: Where a link with this text is looked for, page after page: the very text, then the same words.

    Returns:
        The action, or None where no page has such a link.
    """
    if text.startswith(SEARCH):
        return Search(text.removeprefix(SEARCH))
    if (url := _url(text, address)) is not None:
        return Visit(url)
    found = (link for page in pages for link in _links(text, page))
    return next((Visit(link.url) for link in found), None)


def shown(action: Action, trajectory: Trajectory) -> Observation | None:
    """Return what the action led to, the latest time; None where it was not taken."""
    return next((step.observation for step in reversed(trajectory) if _took(step, action)), None)


def astray(links: Iterable[Link], steps: Sequence[WayStep], *, address: str) -> tuple[Link, ...]:
    """Return the links that are no step of any way."""
    keys = {page_key(url) for step in steps if (url := _url(step.text, address)) is not None}
    words = {_words(step.text) for step in steps}
    return tuple(link for link in links if page_key(link.url) not in keys and words.isdisjoint(map(_words, link.names)))


def _url(text: str, address: str) -> str | None:
    if _ADDRESS.match(text):
        return text
    return address + text if text.startswith("/") else None


def _links(text: str, page: Observation) -> tuple[Link, ...]:
    exact = tuple(link for link in page.links if text in link.names)
    words = _words(text)
    return exact or tuple(link for link in page.links if words and words in map(_words, link.names))


@lru_cache(maxsize=65_536)
def _words(text: str) -> str:
    """Return a text without case, forms of width, and what stands between its words."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def _took(step: Step[Action, Observation], action: Action) -> bool:
    if step.action == action or not isinstance(action, Visit):
        return step.action == action
    # By what was decided and where it led, not by what was asked for: of two addresses that lead to one page, a page
    # loaded ahead may have been asked for by the other.
    decided = [step.action.target] if isinstance(step.action, Visit) else []
    return page_key(action.target) in map(page_key, [step.observation.url, *decided])
