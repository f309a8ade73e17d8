"""The predictor for a client that asks no question: what it wants is guessed from what it did.

Invariant: what it names depends on the goal and the trajectory alone, and only links of pages that were seen are named.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass

from agent.predictors.rank_predictor import QUICK
from agent.predictors.ranker import MAX_SCORE, LinkRanker, RankedLink
from agent.targets.frontier import Trajectory, unread
from browser.action import Action, Find, Search, Visit
from browser.address import page_key
from browser.destination import resolve
from browser.observation import Link, Observation
from speccache.environment import Step
from speccache.predictor import Guess

GOAL = "goal"
HISTORY = "history"
NEXT = "next"

PRIORS = {GOAL: (0.66, 0.08, 0.03, 0.03, 0.05), HISTORY: (0.12, 0.15, 0.12, 0.07, 0.06)}
"""How often the first, second, third … guess is the right next link, with a goal and without, on 143 pages:
`python -m evals.bench history`, 98 of the bundled site and 45 of three real ones (with a goal 0.66 and 0.64 at 1, 0.76
and 0.78 at 3; without, 0.17 and 0.00 at 1, 0.50 and 0.13 at 3)."""

_SEEN_MALUS = 0.5
"""What a link loses that an earlier page had, too: it stood in the client's way before and was left. (On the 98 pages
it raises the first guess's share from 0.63 to 0.66 with a goal, and that of three from 0.41 to 0.50 without.)"""
_RECENT = 6
"""How many of the last steps tell what a client is after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where in a list somebody is: the page it stands on, and the link of it that was followed last."""

    page: Observation
    link: Link


class HistoryPredictor:
    """Names the links that fit what a client is after, and the next link of a list that it works through.

    Until anything is known of that, links stand in page order, those that no earlier page had first.

    Args:
        ranker: Orders the links.
        goal: Returns what the client said it is after; empty where it said nothing.
        max_guesses: How many are named at a time.
    """

    name = HISTORY

    def __init__(self, ranker: LinkRanker, *, goal: Callable[[], str], max_guesses: int = 8) -> None:
        self._ranker = ranker
        self._goal = goal
        self._max_guesses = max_guesses

    async def predict(self, trajectory: Trajectory, /) -> AsyncGenerator[Guess[Action]]:
        """Yield guesses for the next action, the most plausible first.

        Cancellation: closing the iterator leaves nothing running but at most one batch of the embedding model.

        Raises:
            ConfigurationError: The embedding model is not installed as it should be.
        """
        place = _place_in_list(trajectory)
        following = None if place is None else _next_link(place, trajectory)
        came_back = place is not None and page_key(place.page.url) == page_key(trajectory[-1].observation.url)
        if following is not None and came_back:
            yield Guess(action=Visit(following.url), predictor=NEXT, rank=1, score=1.0)
        async for guess in self._fitting(trajectory):
            yield guess
        if following is not None and not came_back:
            yield Guess(action=Visit(following.url), predictor=NEXT, rank=2, score=0.5)

    async def _fitting(self, trajectory: Trajectory) -> AsyncGenerator[Guess[Action]]:
        links, goal = unread(trajectory), self._goal()
        name, wanted = GOAL if goal else HISTORY, interest(goal, trajectory)
        if wanted and links and not self._ranker.knows(wanted, links):
            for best in (await self._ranker.quick(wanted, links))[:1]:
                yield Guess(action=Visit(best.link.url), predictor=QUICK, rank=1, score=best.score / MAX_SCORE)
        scores = await self._ranker.scores(wanted, links) if wanted else (0.0,) * len(links)
        ranked = _new_first(links, scores, trajectory)[: self._max_guesses]
        for rank, each in enumerate(ranked, 1):
            score = max(0.0, each.score / MAX_SCORE)
            yield Guess(action=Visit(each.link.url), predictor=name, rank=rank, score=score)


def interest(goal: str, trajectory: Trajectory) -> str:
    """Say what a client is after: its goal, and what it lately looked for and followed; empty if nothing is known."""
    recent = range(max(0, len(trajectory) - _RECENT), len(trajectory))
    texts = [goal, *(_text_of(trajectory, at) for at in recent)]
    return " ".join(dict.fromkeys(" ".join(text.split()) for text in texts if text.strip()))


def _text_of(trajectory: Trajectory, at: int) -> str:
    match trajectory[at].action:
        case Find(text=text) | Search(query=text):
            return text
        case Visit() if at:
            link = _followed(trajectory[at], trajectory[at - 1].observation)
            return link.text if link else ""
        case _:
            return ""


def _followed(step: Step[Action, Observation], before: Observation) -> Link | None:
    """Return the link of the page before that a step followed; None where it was none of them."""
    if not isinstance(step.action, Visit):
        return None
    key = page_key(resolve(step.action.target, before) or "")
    return next((link for link in before.links if page_key(link.url) == key), None)


def _place_in_list(trajectory: Trajectory) -> _Place | None:
    """Return the last link that was followed, with the page it was followed from."""
    for at in range(len(trajectory) - 1, 0, -1):
        page = trajectory[at - 1].observation
        link = _followed(trajectory[at], page)
        if link is not None:
            return _Place(page=page, link=link)
    return None


def _next_link(place: _Place, trajectory: Trajectory) -> Link | None:
    """Return the first link behind the one followed that leads to a page not yet read."""
    on_page = (*trajectory, Step(trajectory[-1].action, place.page))
    return next((link for link in unread(on_page) if link.number > place.link.number), None)


def _new_first(links: Sequence[Link], scores: Sequence[float], trajectory: Trajectory) -> list[RankedLink]:
    """Order links by their scores, less what those lose that an earlier page had; equal ones stay in page order."""
    earlier = {page_key(link.url) for step in trajectory[:-1] for link in step.observation.links}
    ranked = [
        RankedLink(link=link, score=score - _SEEN_MALUS * (page_key(link.url) in earlier))
        for link, score in zip(links, scores, strict=True)
    ]
    return sorted(ranked, key=lambda each: -each.score)
