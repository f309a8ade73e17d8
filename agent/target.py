"""The target: whatever decides the agent's next action.

Invariant: a decision depends only on the question and the trajectory, so that a run with speculation and one without
take the same path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from browser.action import Action
from browser.observation import Observation
from speccache.environment import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one or more model calls.

    Attributes:
        input_tokens: Of the prompts; 0 where the endpoint did not say, as no prompt is empty.
        output_tokens: Of the replies, with what was thought.
        cached_tokens: Of the prompts' tokens, those the provider had in its cache, which are cheaper.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    @property
    def known(self) -> bool:
        """Whether the endpoint said how many tokens it took."""
        return self.input_tokens > 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The end of a run: the target says what it found.

    Attributes:
        text: The answer; empty where the target gives up.
        sources: Addresses of the pages it rests on.
        data: The answer in the shape that was asked for; None where none was.
        fault: Why it is not what was asked for, though it is the answer; empty where it is.
    """

    text: str
    sources: tuple[str, ...] = ()
    data: object = None
    fault: str = ""

    def __str__(self) -> str:
        return f"answer {self.text!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection:
    """What a target made of the last observation before it decided.

    Attributes:
        information: What it wrote down of it; empty where nothing was of use.
        satisfied: Whether its critic found that all notes together answer the question; None: it was not asked.
    """

    information: str = ""
    satisfied: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the target wants to do, and why.

    Attributes:
        action: The next action, or the answer.
        thought: The target's reasoning in its own words; may be empty.
        usage: Tokens the decision cost.
        calls: Model calls it took.
        reflection: What was made of the last observation; None: the target does not reflect.
    """

    action: Action | Answer
    thought: str = ""
    usage: Usage = field(default_factory=Usage)
    calls: int = 0
    reflection: Reflection | None = None


class Target(Protocol):
    """Decides what to do next."""

    @property
    def name(self) -> str:
        """How reports call it: a model's name, or `embedded`."""
        ...

    async def decide(self, question: str, trajectory: Sequence[Step[Action, Observation]], /) -> Decision:
        """Decide the next action from all that was done and seen so far (at least one step).

        Raises:
            ModelError: The model behind it could not be used.
        """
        ...

    async def conclude(self, question: str, trajectory: Sequence[Step[Action, Observation]], /) -> Decision:
        """Give the best answer that what was seen allows, an empty one where it allows none: the run is at a limit.

        Returns:
            A decision whose action is an `Answer`.

        Raises:
            ModelError: The model behind it could not be used.
        """
        ...
