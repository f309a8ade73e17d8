"""What is said to a model and what it says back, as plain values.

Invariant: a text here is a `str` and a count an `int`, whatever the endpoint sent: the `openai` client parses replies
without validating them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from agent.target import Usage

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionChunk

    from agent.model_failure import ModelEdge

MISSHAPEN = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What reading a reply of another shape raises."""


_EXCERPT_CHARACTERS = 200


def excerpt(text: str) -> str:
    """Shorten a text to one line that a message can quote."""
    line = " ".join(text.split())
    return line if len(line) <= _EXCERPT_CHARACTERS else f"{line[:_EXCERPT_CHARACTERS]}…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool the model wants to use; the arguments are JSON as the model wrote it, so perhaps broken."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered.

    Attributes:
        text: Its words; empty where it only called tools.
        tool_calls: The tools it called, in its order.
        usage: Tokens of the call; zero where the endpoint does not say.
        seconds: From the request to the whole reply, retries included.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0


class ReplyStream:
    """A reply as it is written: an iterator over pieces of text.

    Attributes:
        usage: Tokens of the call, known when the iterator has ended; zero before, and where the endpoint does not say.
    """

    def __init__(self, chunks: AsyncIterator[ChatCompletionChunk], edge: ModelEdge, *, deadline: float) -> None:
        self.usage = Usage()
        self._chunks = chunks
        self._edge = edge
        self._deadline = deadline
        self._begun = False

    def __aiter__(self) -> ReplyStream:
        return self

    async def __anext__(self) -> str:
        """Wait for the next piece of text.

        Raises:
            ModelError: The endpoint broke off, took too long, or sent something else than a reply.
        """
        while True:
            piece = self._read(await self._next_chunk())
            if piece:
                return piece

    async def _next_chunk(self) -> ChatCompletionChunk:
        with self._edge.mapped():
            async with asyncio.timeout_at(self._deadline):
                try:
                    return await anext(self._chunks)
                except StopAsyncIteration:
                    if not self._begun:
                        raise self._edge.unreadable("the stream held no event") from None
                    raise

    def _read(self, chunk: ChatCompletionChunk) -> str:
        try:
            self.usage = _usage(chunk.usage) if chunk.usage else self.usage
            text = "".join(_text(choice.delta.content) for choice in chunk.choices)
        except MISSHAPEN as error:
            raise self._edge.unreadable(f"an event reads {chunk!r}") from error
        self._begun = True
        return text


def read_reply(completion: Any, *, seconds: float) -> Reply:
    """Take a reply out of what the client parsed, whatever that is; raises one of `MISSHAPEN` where it is no reply."""
    message = completion.choices[0].message
    calls = [call.function for call in message.tool_calls or ()]
    return Reply(
        text=_text(message.content or message.refusal),
        tool_calls=tuple(ToolCall(name=_text(call.name), arguments=_text(call.arguments)) for call in calls),
        usage=_usage(completion.usage),
        seconds=seconds,
    )


def _text(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"not a text: {value!r}")
    return value


def _usage(usage: Any) -> Usage:
    if usage is None:
        return Usage()
    return Usage(input_tokens=int(usage.prompt_tokens or 0), output_tokens=int(usage.completion_tokens or 0))
