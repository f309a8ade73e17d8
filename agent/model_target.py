"""A language model as the target.

Invariant: one decision is one request, or two where the first reply held no action; the model sees only the question
and the trajectory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.choice import Choice, read
from agent.errors import ModelUnreadable
from agent.prompt import target_messages
from agent.reply import Reply, excerpt
from agent.target import Answer, Decision
from agent.tools import READING_TOOLS, TOOLS
from browser.action import Action, Reading
from browser.observation import Observation
from speccache.environment import Step

if TYPE_CHECKING:
    from agent.model import ChatModel


class ModelTarget:
    """Lets a chat model decide.

    Args:
        model: The model.
        acting: Whether it may use controls, too; else it is only offered what changes nothing anywhere.

    Resource handling: the model stays its owner's; this object holds nothing to close.
    """

    def __init__(self, model: ChatModel, *, acting: bool = False) -> None:
        self._model = model
        self._tools = TOOLS if acting else READING_TOOLS
        self._schemas = [tool.schema() for tool in self._tools]

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    async def decide(self, question: str, trajectory: Sequence[Step[Action, Observation]], /) -> Decision:
        """Decide the next action, asking once more where the first reply holds none.

        Raises:
            ModelUnreadable: Neither reply held an action.
            ModelError: The model could not be used.
        """
        first = await self._ask(question, trajectory)
        try:
            return _decision(self._read(first), trajectory, first)
        except ModelUnreadable as error:
            correction = str(error)
        second = await self._ask(question, trajectory, correction=correction)
        try:
            return _decision(self._read(second), trajectory, first, second)
        except ModelUnreadable as error:
            raise ModelUnreadable(
                f"{self.name} was asked twice for an action and gave none ({error}): {excerpt(_words(second))}",
                hint="Use a model that follows instructions or calls tools.",
            ) from error

    async def _ask(
        self, question: str, trajectory: Sequence[Step[Action, Observation]], *, correction: str = ""
    ) -> Reply:
        messages = target_messages(question, trajectory, tools=self._tools, correction=correction)
        return await self._model.complete(messages, tools=self._schemas)

    def _read(self, reply: Reply) -> Choice:
        choice = read(reply)
        if self._tools is READING_TOOLS and not isinstance(choice.action, Reading | Answer):
            raise ModelUnreadable(f"{choice.action} is not among the tools")
        return choice


def _decision(choice: Choice, trajectory: Sequence[Step[Action, Observation]], *replies: Reply) -> Decision:
    action = choice.action
    if isinstance(action, Answer):
        # A model may cite pages it never saw.
        seen = {step.observation.url for step in trajectory}
        action = Answer(text=action.text, sources=tuple(url for url in action.sources if url in seen))
    usage = replies[0].usage
    for reply in replies[1:]:
        usage += reply.usage
    return Decision(action=action, thought=choice.thought, usage=usage)


def _words(reply: Reply) -> str:
    return " ".join([reply.text, *(f"{call.name}({call.arguments})" for call in reply.tool_calls)])
