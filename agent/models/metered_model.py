"""Counts what every single request to a model costs.

Invariant: each request ends in exactly one event, however it ends; so what is billed is told, also for requests whose
reply nobody read. What those cost nobody tells, so it is estimated, and marked as such.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from agent.errors import ModelError, ModelLate
from agent.events import CallKind
from agent.models.call_log import CallLog
from agent.models.chat import Chat
from agent.models.reply import Message, Reply, characters
from agent.models.reply_stream import ReplyStream
from agent.target import Usage

Price = Callable[[Usage, str], float | None]
"""What tokens cost at a service tier, in US dollars; None: not known."""

_CHARACTERS_PER_TOKEN = 4.0
"""Of English prose with most tokenizers, until the model's own replies tell better."""


class TokenEstimate:
    """Estimates a request's tokens from the last reply of the same model.

    A request that lost to another had the same prompt, so its input is exact; its output is counted as the winner's,
    which is rather too much.
    """

    def __init__(self) -> None:
        self._characters_per_token = _CHARACTERS_PER_TOKEN
        self._output_tokens = 0

    def learn(self, messages: Sequence[Message], usage: Usage) -> None:
        """Take in what a request cost."""
        if usage.known:
            self._characters_per_token = max(1, characters(messages)) / usage.input_tokens
            self._output_tokens = usage.output_tokens

    def of(self, messages: Sequence[Message], *, written_tokens: int | None = None) -> Usage:
        """Return the tokens of a request that was given up; of a stream it is known how much was written."""
        return Usage(
            input_tokens=max(1, round(characters(messages) / self._characters_per_token)),
            output_tokens=self._output_tokens if written_tokens is None else written_tokens,
        )


class MeteredModel:
    """Tells of each request how it ended, how long it took and what it cost.

    Args:
        model: Sends one request for each call; it stays its owner's.
        log: Where to tell.
        price: What tokens cost.
        estimate: What is known of the model's tokens.
        service_tier: The tier that is asked for, for an endpoint that does not say which one it was.
    """

    def __init__(
        self,
        model: Chat,
        log: CallLog,
        *,
        price: Price = lambda usage, tier: None,
        estimate: TokenEstimate | None = None,
        service_tier: str = "",
    ) -> None:
        self._model = model
        self._log = log
        self._price = price
        self._estimate = estimate or TokenEstimate()
        self._service_tier = service_tier

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    async def complete(self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, object]] = ()) -> Reply:
        """Wait for the whole reply; see `Chat`."""
        started_seconds = self._log.now()
        try:
            reply = await self._model.complete(messages, tools=tools)
        except (ModelError, asyncio.CancelledError) as error:
            self._lost(messages, error, started_seconds)
            raise
        self._answered(messages, reply, started_seconds)
        return reply

    @asynccontextmanager
    async def stream(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, object]] = ()
    ) -> AsyncIterator[ReplyStream]:
        """Open a reply that can be read while it is written; see `Chat`."""
        started_seconds = self._log.now()
        reply: ReplyStream | None = None
        error: BaseException | None = None
        try:
            async with self._model.stream(messages, tools=tools) as reply:
                yield reply
        except BaseException as caught:
            error = caught
            raise
        finally:
            if reply is not None and reply.ended:
                self._answered(messages, reply.reply, started_seconds)
            else:
                self._lost(messages, error, started_seconds, written_tokens=None if reply is None else reply.pieces)

    def _answered(self, messages: Sequence[Message], reply: Reply, started_seconds: float) -> None:
        self._estimate.learn(messages, reply.usage)
        tier = reply.service_tier or self._service_tier
        event = self._log.event(CallKind.REPLY, seconds=self._log.now() - started_seconds)
        if reply.usage.known:
            event = replace(event, usage=reply.usage, cost_usd=self._price(reply.usage, tier))
        self._log.pass_on(replace(event, service_tier=tier))

    def _lost(
        self,
        messages: Sequence[Message],
        error: BaseException | None,
        started_seconds: float,
        *,
        written_tokens: int | None = None,
    ) -> None:
        seconds = self._log.now() - started_seconds
        if isinstance(error, ModelError) and not isinstance(error, ModelLate):
            failed = self._log.event(CallKind.FAIL, reason=str(error), seconds=seconds)
            self._log.pass_on(replace(failed, error=type(error).__name__))
            return
        usage = self._estimate.of(messages, written_tokens=written_tokens)
        reason = str(error) if isinstance(error, ModelLate) else "not needed any more"
        event = self._log.event(CallKind.DROP, reason=reason, seconds=seconds)
        cost_usd = self._price(usage, self._service_tier)
        late = type(error).__name__ if isinstance(error, ModelLate) else ""
        self._log.pass_on(replace(event, usage=usage, estimated=True, cost_usd=cost_usd, error=late))
