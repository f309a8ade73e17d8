"""A small language model that guesses the target's next links, and searches.

Invariant: it never disturbs a run. Whatever its model does wrong ends that prediction and is counted.
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from agent.errors import ModelError
from agent.target import Usage
from agent.targets.prompt import draft_messages
from browser.action import Action, Search, Visit
from browser.observation import Link, Observation
from speccache.environment import Step
from speccache.predictor import Guess

if TYPE_CHECKING:
    from agent.models.chat import Chat

DEFAULT_MAX_GUESSES = 3
"""As in the SpecCache paper (arXiv 2510.16276)."""

_BRACKETED = re.compile(r"\[(\d{1,6})\]")
_LEADING = re.compile(
    r"\s*(?:[-*•]\s+)?(?:[A-Za-z][A-Za-z ]{0,30}\d?:\s*)?(?:\d+[.)]\s+)?(?:visit\s+|link\s+)?#?(\d{1,6})\b"
)
"""A number that begins its line, after a bullet, a label or an ordinal."""
_SEARCH = re.compile(r"\s*(?:[-*•]\s+)?(?:\d+[.)]\s+)?search\s*:\s*(.+)", re.IGNORECASE)


class DraftPredictor:
    """Asks a draft model which links the target will open next.

    Attributes:
        usage: Tokens of the predictions that ran to their end; one closed early brings none, as usage comes last.
        seconds: Time in which a prediction was running.
        failures: Predictions that its model ended with an error.
        last_error: The latest such error, None before the first.
        knows: Tells whether what an action gives is loaded already; whoever owns the cache sets it.

    Resource handling: the model stays its owner's. A prediction's request is closed with its iterator.
    """

    def __init__(
        self,
        question: str,
        model: Chat,
        *,
        max_guesses: int = DEFAULT_MAX_GUESSES,
        searching: bool = False,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.usage = Usage()
        self.seconds = 0.0
        self.failures = 0
        self.last_error: ModelError | None = None
        self.knows: Callable[[Action], bool] = lambda _: False
        self._question = question
        self._model = model
        self._max_guesses = max_guesses
        self._searching = searching
        self._clock = clock

    @property
    def name(self) -> str:
        """How events and reports call it."""
        return f"draft:{self._model.name}"

    async def predict(self, trajectory: Sequence[Step[Action, Observation]], /) -> AsyncGenerator[Guess[Action]]:
        """Yield links of the last observation and searches, each as soon as the model has written its line.

        The model reads the current page, not the one the run began with. Lines that name no link of it are skipped.
        """
        page = trajectory[-1].observation
        if not page.links and not self._searching:
            return
        started = self._clock()
        loaded = [link.number for link in page.links if self.knows(Visit(link.url))]
        messages = draft_messages(
            self._question, trajectory, max_guesses=self._max_guesses, loaded=loaded, searching=self._searching
        )
        found: list[Action] = []
        try:
            async with self._model.stream(messages) as reply, aclosing(_lines(reply)) as lines:
                async for line in lines:
                    action = self._action(line, page.links)
                    # Lines beyond the last guess are read too: the usage comes after them.
                    if action is None or action in found or len(found) == self._max_guesses:
                        continue
                    found.append(action)
                    yield Guess(action=action, predictor=self.name, rank=len(found), score=1 / len(found))
                self.usage += reply.usage
        except ModelError as error:
            self.failures += 1
            self.last_error = error
        finally:
            self.seconds += self._clock() - started

    def _action(self, line: str, links: Sequence[Link]) -> Action | None:
        searched = _SEARCH.match(line) if self._searching else None
        if searched:
            query = searched[1].strip().strip("\"'“”*`").strip()
            return Search(query) if query else None
        number = _number(line)
        return next((Visit(link.url) for link in links if link.number == number), None)


async def _lines(pieces: AsyncIterator[str]) -> AsyncGenerator[str]:
    """Put pieces of text together to lines."""
    unfinished = ""
    async for piece in pieces:
        *lines, unfinished = (unfinished + piece).split("\n")
        for line in lines:
            yield line
    yield unfinished


def _number(line: str) -> int:
    """Read the link number a line names; 0, which no link has, where it names none."""
    found = _BRACKETED.search(line) or _LEADING.match(line)
    return int(found[1]) if found else 0
