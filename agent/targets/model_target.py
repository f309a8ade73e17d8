"""A language model as the target.

Invariant: one decision is one request, or two where the first reply held no action, and one more for each old page that
has to make room; the model sees only the question and the trajectory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.errors import ModelUnreadable
from agent.models.reply import Message, Reply, excerpt
from agent.target import Answer, Decision, Usage
from agent.targets.choice import Choice, read
from agent.targets.notebook import Notebook
from agent.targets.prompt import target_messages
from agent.targets.tools import ANSWERING_TOOLS, READING_TOOLS, SEARCH_TOOL, TOOLS, Tool
from agent.targets.window import fitted, prompt_tokens
from browser.action import Action, Reading, Search
from browser.observation import Observation
from speccache.environment import Step

if TYPE_CHECKING:
    from agent.models.chat import Chat

WINDOW_TOKENS = 24_000
"""What a request may hold by default (arXiv 2510.16276, the published code)."""

_CONCLUDE = (
    "There is no turn left: no page can be opened any more. Give the best answer that the pages above allow, in parts"
    " if they hold only parts of it; an empty answer if they hold nothing of it."
)


class ModelTarget:
    """Lets a chat model decide.

    Args:
        model: The model.
        acting: Whether it may use controls, too; else it is only offered what changes nothing anywhere.
        searching: Whether there is a search engine it may ask.
        window_tokens: What a request may hold; where the pages seen are more, the oldest are replaced by notes.
        notebook: Where notes are kept; None: one of its own.
        offered: What of the user's own it may use where it may act, in words for the model; see `agent.targets.prompt`.

    Resource handling: the model stays its owner's; this object holds nothing to close.
    """

    def __init__(
        self,
        model: Chat,
        *,
        acting: bool = False,
        searching: bool = False,
        window_tokens: int = WINDOW_TOKENS,
        notebook: Notebook | None = None,
        offered: str = "",
    ) -> None:
        self._model = model
        self._offered = offered if acting else ""
        self._acting, self._searching = acting, searching
        self._tools = (TOOLS if acting else READING_TOOLS) + ((SEARCH_TOOL,) if searching else ())
        self._window_tokens = window_tokens
        self._notebook = notebook or Notebook(model, window_tokens=window_tokens)

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
        spent: list[Reply] = []
        first = await self._ask(question, trajectory, self._tools, spent)
        try:
            return _decision(self._read(first), trajectory, spent)
        except ModelUnreadable as error:
            closing = f"Your last reply could not be used: {error}. Reply with exactly one tool call."
        second = await self._ask(question, trajectory, self._tools, spent, closing=closing)
        try:
            return _decision(self._read(second), trajectory, spent)
        except ModelUnreadable as error:
            raise ModelUnreadable(
                f"{self.name} was asked twice for an action and gave none ({error}): {excerpt(_words(second))}",
                hint="Use a model that follows instructions or calls tools.",
            ) from error

    async def conclude(self, question: str, trajectory: Sequence[Step[Action, Observation]], /) -> Decision:
        """Ask for the best answer from the pages seen; what is no answer counts as an empty one.

        Raises:
            ModelError: The model could not be used.
        """
        spent: list[Reply] = []
        reply = await self._ask(question, trajectory, ANSWERING_TOOLS, spent, closing=_CONCLUDE)
        choice = Choice(action=Answer(text=""))
        try:
            choice = read(reply)
        except ModelUnreadable:
            choice = Choice(action=Answer(text=reply.text.strip()))
        if not isinstance(choice.action, Answer):
            choice = Choice(action=Answer(text=""), thought=choice.thought)
        return _decision(choice, trajectory, spent)

    async def _ask(
        self,
        question: str,
        trajectory: Sequence[Step[Action, Observation]],
        tools: Sequence[Tool],
        spent: list[Reply],
        *,
        closing: str = "",
    ) -> Reply:
        def told(limit: int | None) -> list[Message]:
            notes = {index: str(note) for index, note in self._notebook.notes_of(trajectory).items()}
            return target_messages(
                question, trajectory, tools=tools, notes=notes, limit=limit, closing=closing, offered=self._offered
            )

        for index in range(len(trajectory) - 1):
            if prompt_tokens(told(None)) <= self._window_tokens:
                break
            await self._notebook.note(question, trajectory, index, spent=spent)
        request = fitted(told, trajectory[-1].observation.text, window_tokens=self._window_tokens)
        reply = await self._model.complete(request, tools=[tool.schema() for tool in tools])
        spent.append(reply)
        return reply

    def _read(self, reply: Reply) -> Choice:
        choice = read(reply)
        is_reading = isinstance(choice.action, Reading | Answer)
        if not (self._searching if isinstance(choice.action, Search) else self._acting or is_reading):
            raise ModelUnreadable(f"{choice.action} is not among the tools")
        return choice


def used(spent: Sequence[Reply]) -> Usage:
    """Add up what replies cost."""
    return sum((reply.usage for reply in spent), Usage())


def _decision(choice: Choice, trajectory: Sequence[Step[Action, Observation]], spent: Sequence[Reply]) -> Decision:
    action = choice.action
    if isinstance(action, Answer):
        # A model may cite pages it never saw.
        seen = {step.observation.url for step in trajectory}
        action = Answer(text=action.text, sources=tuple(url for url in action.sources if url in seen))
    return Decision(action=action, thought=choice.thought, usage=used(spent), calls=len(spent))


def _words(reply: Reply) -> str:
    return " ".join([reply.text, *(f"{call.name}({call.arguments})" for call in reply.tool_calls)])
