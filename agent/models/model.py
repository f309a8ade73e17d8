"""A chat model behind any OpenAI-compatible endpoint: the one place where the `openai` package is called.

Invariant: one call is one request, and one more for each parameter that the endpoint refuses by its name; that one is
left out from then on, or called by its newer name. Unasked, only what every endpoint takes is sent. Errors are mapped
in `agent.models.model_failure`.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence, Set
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import openai
from yarl import URL

from agent.errors import ConfigurationError
from agent.models.model_failure import ModelEdge
from agent.models.reply import MISSHAPEN, Message, Reply, read_reply
from agent.models.reply_stream import ReplyStream

_OPENAI_HOST = "api.openai.com"

_DROPPABLE = {
    "tools": "tool",
    "stream_options": "stream_options",
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
}
"""Parameters a call can do without, and the word by which endpoints refuse them; reasoning models take no sampling."""
_RENAMED = {"max_tokens": "max_completion_tokens"}
"""Reasoning models refuse the first and name the second in what they answer."""
_REFUSING_STATUSES = {400, 404, 422, 500, 501}
"""404 is OpenRouter's ("no endpoints found that support tool use"), 500 llama.cpp's ("tools param requires …")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """How long the parts of one request may take.

    Attributes:
        connect_seconds: Until there is a connection.
        first_token_seconds: Until a stream's first piece, of a thought or of text; None: no limit of its own.
        total_seconds: For all of it. Some endpoints (DeepSeek's) send blank lines to keep a waiting client, so a limit
            on silence would not be enough.
    """

    connect_seconds: float = 10.0
    first_token_seconds: float | None = None
    total_seconds: float = 120.0


class ChatModel:
    """A chat model, called over HTTP; nothing is tried twice here, `agent.models.registry` puts around it what does.

    Resource handling: owns a connection pool; `aclose()` lets it go and may be called twice.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str,
        api_key: str = "",
        key_variable: str = "SPECCACHE_API_KEY",
        limits: CallLimits = CallLimits(),
        parameters: Mapping[str, object] | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Set the client up; nothing is sent yet.

        Args:
            name: The model's name at the endpoint.
            base_url: The endpoint's address.
            api_key: Its key; empty where it needs none.
            key_variable: Where the key is set, for hints.
            limits: How long a request may take.
            parameters: More fields for the body of every request, such as `temperature` or `service_tier`.
            clock: Tells the time, in seconds.

        Raises:
            ConfigurationError: The key or the address cannot be right.
        """
        self.name = name
        self._key = _checked_key(api_key, key_variable)
        self._client = openai.AsyncOpenAI(
            api_key=self._key or "none",
            # Said again, as OPENAI_CUSTOM_HEADERS may hold a key that is another endpoint's.
            default_headers={"Authorization": f"Bearer {self._key or 'none'}"},
            base_url=_checked_url(base_url),
            timeout=openai.Timeout(limits.total_seconds, connect=min(limits.total_seconds, limits.connect_seconds)),
            max_retries=0,
        )
        if self._client.base_url.host != _OPENAI_HOST:
            # The client takes them from the environment; they are nobody else's business.
            self._client.organization = self._client.project = None
        self._completions = self._client.chat.completions  # loads at first use, too long a pause for an event loop
        self._limits, self._clock = limits, clock
        self._edge = ModelEdge(
            model=name,
            endpoint=self.endpoint,
            key=self._key,
            key_variable=key_variable,
            total_seconds=limits.total_seconds,
        )
        self._parameters = dict(parameters or {})
        self._refused: set[str] = set()
        self._suspected: set[str] = set()

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
        started_seconds = self._clock()
        with self._edge.mapped():
            async with asyncio.timeout(self._limits.total_seconds):
                completion = await self._create(messages, tools)
        try:
            return read_reply(completion, seconds=self._clock() - started_seconds)
        except MISSHAPEN as error:
            raise self._edge.unreadable(str(completion)) from error

    @asynccontextmanager
    async def stream(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, object]] = ()
    ) -> AsyncIterator[ReplyStream]:
        """Open a reply that can be read while it is written; it is open once the model has written something.

        Resource handling: the HTTP request is closed when the block is left, however it is left.

        Raises:
            ModelError: No reply could be had.
        """
        started_seconds = self._clock()
        first_seconds = self._limits.first_token_seconds or self._limits.total_seconds
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._limits.total_seconds
        first_deadline = min(deadline, loop.time() + first_seconds)
        with self._edge.mapped(late=f"wrote nothing within {first_seconds:g} s"):
            async with asyncio.timeout_at(first_deadline):
                chunks = await self._create(messages, tools, stream=True, stream_options={"include_usage": True})
        try:
            reply = ReplyStream(
                chunks, self._edge, deadline=deadline, started_seconds=started_seconds, clock=self._clock
            )
            with self._edge.mapped(late=f"wrote nothing within {first_seconds:g} s"):
                async with asyncio.timeout_at(first_deadline):
                    await reply.begin()
            yield reply
        finally:
            await chunks.close()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _create(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, object]], **streaming: object
    ) -> Any:
        """Send a request, without what the endpoint is known not to take."""
        wanted = {**self._parameters, **streaming, **({"tools": list(tools)} if tools else {})}
        refused, doubted = frozenset(self._refused), frozenset[str]()
        while True:
            body = _accepted(wanted, refused)
            try:
                reply = await self._send(messages, body)
            except openai.APIStatusError as error:
                # Some endpoints name one parameter after the other.
                named = _refused_by(error) & body.keys()
                if not named:
                    raise
                refused |= named
                if error.status_code >= 500:  # a server in trouble may say anything; where it is so, it says so again
                    doubted |= named - self._suspected
            else:
                # Only now is it certain that they were the reason.
                self._refused |= refused - doubted
                self._suspected |= doubted
                return reply

    async def _send(self, messages: Sequence[Message], body: Mapping[str, object]) -> Any:
        streaming: dict[str, Any] = {name: body[name] for name in ("stream", "stream_options") if name in body}
        request: dict[str, Any] = {
            "model": self.name,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "extra_body": {name: value for name, value in body.items() if name not in streaming},
        }
        return await self._completions.create(**request, **streaming)


def _accepted(wanted: Mapping[str, object], refused: Set[str]) -> dict[str, object]:
    renamed = {_RENAMED[name]: value for name, value in wanted.items() if name in refused and name in _RENAMED}
    return {name: value for name, value in wanted.items() if name not in refused} | renamed


def _refused_by(error: openai.APIStatusError) -> set[str]:
    if error.status_code not in _REFUSING_STATUSES:
        return set()
    said = error.message.lower()
    dropped = {name for name, word in _DROPPABLE.items() if re.search(rf"\b{word}", said)}
    return dropped | {name for name, newer in _RENAMED.items() if newer in said}


def _checked_key(key: str, variable: str) -> str:
    key = key.strip()
    if not (key.isascii() and (key.isprintable() or not key)):
        raise ConfigurationError(
            "The API key holds characters that no key has.", hint=f"Copy {variable} again, without quotes."
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
