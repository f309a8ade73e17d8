"""A chat model behind any OpenAI-compatible endpoint.

Invariant: only parameters that every endpoint takes are sent unasked (reasoning models refuse `temperature` and
`max_tokens`); what an endpoint refuses by name is left out from then on. Errors are mapped in `agent.model_failure`.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import openai
from asyncio_throttle.throttler import Throttler
from yarl import URL

from agent.errors import ConfigurationError
from agent.model_failure import ModelEdge
from agent.reply import MISSHAPEN, Message, Reply, ReplyStream, read_reply

DEFAULT_TIMEOUT_SECONDS = 120.0
DEFAULT_MAX_RETRIES = 2

_DROPPABLE = {"tools": "tool", "stream_options": "stream_options"}
"""Parameters a call can do without, and the word by which endpoints refuse them."""
_REFUSING_STATUSES = {400, 404, 422, 500, 501}
"""404 is OpenRouter's ("no endpoints found that support tool use"), 500 llama.cpp's ("tools param requires …")."""


class ChatModel:
    """A chat model, called over HTTP.

    Retries are the client's own: connection failures, 408, 409, 429 and 5xx, with exponential backoff, and
    `Retry-After` up to two minutes.

    Resource handling: owns a connection pool; `aclose()` lets it go and may be called twice.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        deadline_seconds: float | None = None,
        max_retries: int = DEFAULT_MAX_RETRIES,
        calls_per_minute: int | None = None,
        parameters: Mapping[str, object] | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Set the client up; nothing is sent yet.

        Args:
            name: The model's name at the endpoint.
            base_url: The endpoint's address; by default `OPENAI_BASE_URL`, else OpenAI's.
            api_key: The key; by default `OPENAI_API_KEY`. An endpoint that is named may do without.
            timeout_seconds: Longest silence of the endpoint in one attempt.
            deadline_seconds: Longest time of a call with its retries; by default the timeouts of all attempts. Some
                endpoints (DeepSeek's) send blank lines to keep a waiting client, so a timeout is not enough.
            max_retries: Attempts after the first.
            calls_per_minute: Calls begun in any minute at most, retries aside; None: no limit of ours.
            parameters: More fields for the body of every request, such as `temperature` or `service_tier`.
            clock: Tells the time, in seconds.

        Raises:
            ConfigurationError: There is no key, or the key or the address cannot be right.
        """
        base_url = base_url or os.environ.get("OPENAI_BASE_URL") or None
        self.name = name
        self._key = _checked_key(api_key or os.environ.get("OPENAI_API_KEY", ""), needed=base_url is None)
        self._client = openai.AsyncOpenAI(
            api_key=self._key or "none",
            base_url=_checked_url(base_url) if base_url else None,
            timeout=openai.Timeout(timeout_seconds, connect=min(timeout_seconds, 10.0)),
            max_retries=max_retries,
        )
        self._completions = self._client.chat.completions  # loads at first use, too long a pause for an event loop
        self._edge = ModelEdge(
            model=name,
            endpoint=self.endpoint,
            key=self._key,
            deadline_seconds=deadline_seconds or timeout_seconds * (max_retries + 1),
        )
        self._throttle = Throttler(rate_limit=calls_per_minute, period=60.0) if calls_per_minute else nullcontext()
        self._parameters = dict(parameters or {})
        self._refused: set[str] = set()
        self._clock = clock

    @property
    def endpoint(self) -> str:
        """The endpoint's address without credentials."""
        return str(URL(str(self._client.base_url)).with_user(None).with_query(None)).rstrip("/")

    def __repr__(self) -> str:
        return f"ChatModel({self._edge})"

    async def complete(self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, object]] = ()) -> Reply:
        """Wait for the whole reply.

        Args:
            messages: The conversation so far.
            tools: Schemas of the tools the model may call. An endpoint that takes none is asked without them, so the
                messages should say how to answer in text.

        Raises:
            ModelError: No reply could be had.
        """
        started = self._clock()
        with self._edge.mapped():
            async with self._throttle, asyncio.timeout(self._edge.deadline_seconds):
                completion = await self._create(messages, **({"tools": list(tools)} if tools else {}))
        try:
            return read_reply(completion, seconds=self._clock() - started)
        except MISSHAPEN as error:
            raise self._edge.unreadable(str(completion)) from error

    @asynccontextmanager
    async def stream(self, messages: Sequence[Message]) -> AsyncIterator[ReplyStream]:
        """Open a reply that can be read while it is written.

        Resource handling: the HTTP request is closed when the block is left, however it is left.

        Raises:
            ModelError: No reply could be had.
        """
        async with self._throttle:
            deadline = asyncio.get_running_loop().time() + self._edge.deadline_seconds
        with self._edge.mapped():
            async with asyncio.timeout_at(deadline):
                chunks = await self._create(messages, stream=True, stream_options={"include_usage": True})
        try:
            yield ReplyStream(chunks, self._edge, deadline=deadline)
        finally:
            await chunks.close()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _create(self, messages: Sequence[Message], **optional: object) -> Any:
        """Send a request, without what the endpoint is known not to take."""
        wanted: dict[str, Any] = {name: value for name, value in optional.items() if name not in self._refused}
        request: dict[str, Any] = {
            "model": self.name,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "extra_body": self._parameters,
        }
        try:
            return await self._completions.create(**request, **wanted)
        except openai.APIStatusError as error:
            refused = _refused_by(error) & wanted.keys()
            if not refused:
                raise
        for name in refused:
            del wanted[name]
        reply = await self._completions.create(**request, **wanted)
        # Only now is it certain that they were the reason.
        self._refused |= refused
        return reply


def _refused_by(error: openai.APIStatusError) -> set[str]:
    if error.status_code not in _REFUSING_STATUSES:
        return set()
    return {name for name, word in _DROPPABLE.items() if word in error.message.lower()}


def _checked_key(key: str, *, needed: bool) -> str:
    key = key.strip()
    if needed and not key:
        raise ConfigurationError(
            "There is no API key.", hint="Set OPENAI_API_KEY, or name an endpoint that needs none with --base-url."
        )
    if not (key.isascii() and key.isprintable()):
        raise ConfigurationError(
            "The API key holds characters that no key has.", hint="Copy OPENAI_API_KEY again, without quotes."
        )
    return key


def _checked_url(text: str) -> str:
    try:
        url = URL(text)
        usable = url.scheme in {"http", "https"} and bool(url.host) and url.port is not None
    except ValueError:
        usable = False
    if not usable:
        raise ConfigurationError(
            f"{text.rpartition('@')[2]!r} is no address of an endpoint.",
            hint="Give one such as http://localhost:8000/v1.",
        )
    return text
