"""Predictors to compare with: the first links of the page, random ones, none, and the right one.

Invariant: they name only links that may be followed and were not yet read, each page once, and the same ones for the
same question and trajectory.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from random import Random

from agent.targets.frontier import Trajectory, unread
from browser.action import Action, Visit
from browser.address import page_key
from browser.observation import Link
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
    """Names the next page of a path it was given: the bound that no predictor passes. For tests and evals only.

    Args:
        path: The addresses the target will visit, in their order.
    """

    name = ORACLE

    def __init__(self, path: Sequence[str]) -> None:
        self._path = tuple(map(page_key, path))

    async def predict(self, trajectory: Trajectory, /) -> AsyncGenerator[Guess[Action]]:
        """Yield the link to the first page of the path that was not yet read, where the current page offers it."""
        read = {page_key(step.observation.document.requested_url) for step in trajectory}
        wanted = next((key for key in self._path if key not in read), None)
        for guess in _guesses(ORACLE, [link for link in unread(trajectory) if page_key(link.url) == wanted]):
            yield guess


def _guesses(predictor: str, links: Sequence[Link]) -> list[Guess[Action]]:
    return [
        Guess(action=Visit(link.url), predictor=predictor, rank=rank, score=1 / rank)
        for rank, link in enumerate(links, 1)
    ]
