"""Predictors to compare with: the first links of the page, random ones, none, and the right one.

Invariant: they name only what may be run ahead, each page once, and the same for the same question and trajectory.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from random import Random

from agent.targets.frontier import Trajectory, unread
from browser.action import Action, Search, Visit
from browser.address import page_key
from browser.destination import resolve
from browser.observation import Link, Observation
from browser.speculation.gate import refusal
from speccache.environment import Step
from speccache.predictor import Guess

FIRST = "first"
RANDOM = "random"
NONE = "none"
ORACLE = "oracle"


class FirstPredictor:
    """Names the first links of the current page.

    Args:
        max_guesses: How many are named at a time.
    """

    name = FIRST

    def __init__(self, *, max_guesses: int = 3) -> None:
        self._max_guesses = max_guesses

    async def predict(self, trajectory: Trajectory, /) -> AsyncGenerator[Guess[Action]]:
        """Yield the first links, in page order."""
        for guess in _guesses(FIRST, unread(trajectory)[: self._max_guesses]):
            yield guess


class RandomPredictor:
    """Names random links of the current page: the baseline of the SpecCache paper (arXiv 2510.16276).

    Args:
        question: What the target is to answer; another question draws other links.
        max_guesses: How many are named at a time.
        seed: Equal seeds draw equal links.
    """

    name = RANDOM

    def __init__(self, question: str, *, max_guesses: int = 3, seed: int = 0) -> None:
        self._question = question
        self._max_guesses = max_guesses
        self._seed = seed

    async def predict(self, trajectory: Trajectory, /) -> AsyncGenerator[Guess[Action]]:
        """Yield links drawn at random."""
        links = unread(trajectory)
        # Seeded anew for each turn, so that what is drawn does not depend on the predictions made before.
        drawn = Random(f"{self._seed} {len(trajectory)} {self._question}")  # noqa: S311 - no secret depends on it
        for guess in _guesses(RANDOM, drawn.sample(links, min(self._max_guesses, len(links)))):
            yield guess


class NonePredictor:
    """Names nothing: the cache keeps visited pages, and that is all it does."""

    name = NONE

    async def predict(self, trajectory: Trajectory, /) -> AsyncGenerator[Guess[Action]]:
        """Yield no guess."""
        for guess in _guesses(NONE, ()):
            yield guess


class OraclePredictor:
    """Names the next action of a path it was given: the bound that no predictor passes. For tests and evals only.

    Args:
        path: What the target will do, in its order; a text is the address of a visit. The first page may be left out,
            and so may actions that show no other page.
    """

    name = ORACLE

    def __init__(self, path: Sequence[str | Action]) -> None:
        self._path = tuple(Visit(each) if isinstance(each, str) else each for each in path)

    async def predict(self, trajectory: Trajectory, /) -> AsyncGenerator[Guess[Action]]:
        """Yield the first action of the path that was not done yet, if it may be run ahead.

        A link may stand on any page visited; one that leads to a page read before is named again.
        """
        done = 0
        for step in trajectory:
            if done < len(self._path) and _is(step, self._path[done]):
                done += 1
        for action in self._path[done : done + 1]:
            if (allowed := _allowed(action, trajectory)) is not None:
                yield Guess(action=allowed, predictor=ORACLE, rank=1, score=1.0)


def _is(step: Step[Action, Observation], action: Action) -> bool:
    """Tell whether a step was an action of a path, by whichever of its addresses the path has it."""
    if step.action == action or not isinstance(action, Visit) or not isinstance(step.action, Visit):
        return step.action == action
    document = step.observation.document
    addresses = (step.action.target, document.requested_url, document.url)
    return page_key(action.target) in map(page_key, addresses)


def _allowed(action: Action, trajectory: Trajectory) -> Action | None:
    """Return the action as it may be run ahead; None where it may not be."""
    if not isinstance(action, Visit):
        return action if isinstance(action, Search) else None
    here = trajectory[-1].observation
    key = page_key(resolve(action.target, here) or "")
    pages = [step.observation for step in reversed(trajectory)]
    links = [(link, page.url) for page in pages for link in page.links if page_key(link.url) == key]
    if not links or any(refusal(link, page_url=url) for link, url in links):
        return None
    return Visit(links[0][0].url)


def _guesses(predictor: str, links: Sequence[Link]) -> list[Guess[Action]]:
    return [
        Guess(action=Visit(link.url), predictor=predictor, rank=rank, score=1 / rank)
        for rank, link in enumerate(links, 1)
    ]
