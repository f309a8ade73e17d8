"""A reply while it is written.

Invariant: once the iterator has ended, `reply` holds what the same call would have brought as a whole.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.models.reply import MISSHAPEN, Reply, ToolCall, read_text, read_thought, read_tier, read_usage
from agent.models.thought import ThoughtSplitter, split
from agent.target import Usage

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionChunk

    from agent.models.model_failure import ModelEdge


@dataclass(slots=True)
class _Call:
    """A tool call while it is written."""

    id: str = ""
    name: str = ""
    arguments: str = ""


class ReplyStream:
    """An iterator over the pieces of a reply's text, without what is thought aloud.

    Attributes:
        pieces: How many events held something, about as many as there were tokens.
        ended: Whether the endpoint said that it was done; a stream that is left early never is.
    """

    def __init__(
        self,
        chunks: AsyncIterator[ChatCompletionChunk],
        edge: ModelEdge,
        *,
        deadline: float,
        started_seconds: float,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Take over a response.

        Args:
            chunks: Its events.
            edge: Maps what goes wrong.
            deadline: When the whole reply must be there, in the event loop's time.
            started_seconds: When the request was sent, on the clock.
            clock: Tells the time, in seconds.
        """
        self.pieces = 0
        self.ended = False
        self._chunks = chunks
        self._edge = edge
        self._deadline = deadline
        self._started_seconds = started_seconds
        self._clock = clock
        self._seconds = 0.0
        self._events = 0
        self._splitter = ThoughtSplitter()
        self._ready: list[str] = []
        self._written: list[str] = []
        self._thought: list[str] = []
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._usage = Usage()
        self._tier = ""

    @property
    def usage(self) -> Usage:
        """Tokens of the call, which come last; zero before, and where the endpoint does not say."""
        return self._usage

    @property
    def reply(self) -> Reply:
        """What was read so far, as a reply."""
        parts = split("".join(self._written))
        return Reply(
            text=parts.text,
            thought=f"{''.join(self._thought)}\n{parts.thought}".strip(),
            tool_calls=tuple(ToolCall(name=call.name, arguments=call.arguments) for call in self._calls),
            usage=self._usage,
            seconds=self._seconds,
            service_tier=self._tier,
        )

    async def begin(self) -> None:
        """Wait until the model has written something, a thought or a tool call too, or has ended.

        Raises:
            ModelError: As for the iterator.
        """
        while not self.pieces and not self.ended:
            await self._read_next()

    def __aiter__(self) -> ReplyStream:
        return self

    async def __anext__(self) -> str:
        """Wait for the next piece of text.

        Raises:
            ModelError: The endpoint broke off, took too long, or sent something else than a reply.
        """
        while not self._ready:
            if self.ended:
                raise StopAsyncIteration
            await self._read_next()
        return self._ready.pop(0)

    async def _read_next(self) -> None:
        with self._edge.mapped():
            async with asyncio.timeout_at(self._deadline):
                chunk = await anext(self._chunks, None)
        self._seconds = self._clock() - self._started_seconds
        if chunk is not None:
            self._events += 1
            self._read(chunk)
        elif self._events:
            self.ended = True
            self._give(self._splitter.end())
        else:
            raise self._edge.unreadable("the stream held no event")

    def _read(self, chunk: ChatCompletionChunk) -> None:
        try:
            self._usage = read_usage(chunk.usage) if chunk.usage else self._usage
            self._tier = read_tier(chunk) or self._tier
            for choice in chunk.choices:
                self._read_delta(choice.delta)
        except MISSHAPEN as error:
            raise self._edge.unreadable(f"an event reads {chunk!r}") from error

    def _read_delta(self, delta: Any) -> None:
        text, thought = read_text(delta.content), read_thought(delta)
        for fragment in delta.tool_calls or ():
            self._read_call(fragment)
        if text:
            self._written.append(text)
            self._give(self._splitter.feed(text))
        if thought:
            self._thought.append(thought)
        self.pieces += bool(text or thought or delta.tool_calls)

    def _read_call(self, fragment: Any) -> None:
        """Add to the call of this index; Google gives several calls one index, but each its own id."""
        identity, index = read_text(fragment.id), fragment.index or 0
        call = self._by_index.get(index)
        if call is None or (identity and call.id not in ("", identity)):
            call = self._by_index[index] = _Call()
            self._calls.append(call)
        call.id = call.id or identity
        call.name = call.name or read_text(fragment.function.name)
        call.arguments += read_text(fragment.function.arguments)

    def _give(self, text: str) -> None:
        if text:
            self._ready.append(text)
