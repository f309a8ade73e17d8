"""Notices an agent that runs in circles: the same action, again and again, on a page that stays the same.

Invariant: an action is never refused where the page it is taken on has changed since it was last taken.
"""

from __future__ import annotations

from collections import Counter
from enum import Enum, auto

from browser.action import Action
from browser.observation import Observation

REFUSED_AT = 3
"""The time at which an action is not done again; the agent must choose another."""
ENDED_AT = 5
"""The time at which the run ends."""


class Verdict(Enum):
    """What is to become of an action."""

    DO = auto()
    REFUSE = auto()
    END = auto()


class Repetition:
    """Counts how often each action was chosen on each state of a page."""

    def __init__(self) -> None:
        self._chosen: Counter[tuple[str, str, int, str]] = Counter()

    def judge(self, action: Action, here: Observation) -> Verdict:
        """Count one choice, made on this page, and say what is to become of it."""
        choice = (str(action), here.url, here.part, here.text)
        self._chosen[choice] += 1
        times = self._chosen[choice]
        if times >= ENDED_AT:
            return Verdict.END
        return Verdict.REFUSE if times >= REFUSED_AT else Verdict.DO
