"""Reads whole replies as streams, so that a model that does not begin to write is noticed early.

Invariant: the reply is the one that a whole request would have brought.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager

from agent.models.chat import Chat
from agent.models.reply import Message, Reply
from agent.models.reply_stream import ReplyStream


class StreamedModel:
    """Makes one stream of each call.

    Args:
        model: Is asked for streams only; it stays its owner's.
    """

    def __init__(self, model: Chat) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    async def complete(self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, object]] = ()) -> Reply:
        """Wait for the whole reply; see `Chat`."""
        async with self._model.stream(messages, tools=tools) as reply:
            async for _ in reply:
                pass
        return reply.reply

    def stream(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, object]] = ()
    ) -> AbstractAsyncContextManager[ReplyStream]:
        """Open a reply that can be read while it is written; see `Chat`."""
        return self._model.stream(messages, tools=tools)
