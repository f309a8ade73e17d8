"""What the rest of the package needs of a chat model, whatever stands behind it.

Invariant: what wraps a `Chat` is one, so that timeouts, retries, hedging, fallbacks and counting compose in any order
and nothing else knows of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Protocol, TypeVar

from agent.models.reply import Message, Reply
from agent.models.reply_stream import ReplyStream

GivenT = TypeVar("GivenT")
GivenT_co = TypeVar("GivenT_co", covariant=True)


class Chat(Protocol):
    """A chat model."""

    @property
    def name(self) -> str:
        """The model's name, as reports call it."""
        ...

    async def complete(self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, object]] = ()) -> Reply:
        """Wait for the whole reply.

        Cancellation: closes every request that was sent for it.

        Raises:
            ModelError: No reply could be had.
        """
        ...

    def stream(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, object]] = ()
    ) -> AbstractAsyncContextManager[ReplyStream]:
        """Open a reply that can be read while it is written; it is open once the model has written something.

        Resource handling: the request is closed when the block is left, however it is left.

        Raises:
            ModelError: No reply could be had.
        """
        ...


class Attempt(Protocol[GivenT_co]):
    """One attempt at a call: gives a reply, or a stream that the stack then holds open."""

    async def __call__(self, model: Chat, stack: AsyncExitStack, /) -> GivenT_co:
        """Call the model once."""
        ...


class Policy(ABC):
    """A chat model behind which another is called in some particular way, the same for whole replies and streams.

    A stream counts as a success once it is open: what was read of it cannot be taken back.

    Args:
        model: The model to call; it stays its owner's.
    """

    def __init__(self, model: Chat) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    async def complete(self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, object]] = ()) -> Reply:
        """Wait for the whole reply; see `Chat`."""

        async def attempt(model: Chat, _: AsyncExitStack, /) -> Reply:
            return await model.complete(messages, tools=tools)

        async with AsyncExitStack() as stack:
            return await self._call(attempt, stack)

    @asynccontextmanager
    async def stream(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, object]] = ()
    ) -> AsyncIterator[ReplyStream]:
        """Open a reply that can be read while it is written; see `Chat`."""

        async def attempt(model: Chat, stack: AsyncExitStack, /) -> ReplyStream:
            return await stack.enter_async_context(model.stream(messages, tools=tools))

        async with AsyncExitStack() as stack:
            yield await self._call(attempt, stack)

    @abstractmethod
    async def _call(self, attempt: Attempt[GivenT], stack: AsyncExitStack) -> GivenT:
        """Make the call by way of attempts; what is entered on the stack stays open until the reply was read."""
