"""A chat-completions endpoint whose replies are scripted: real HTTP on loopback, no model.

Invariant: one request takes one entry of the script, whatever becomes of it; everything received is recorded.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from aiohttp import web

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call within a reply; `arguments` may be any text, broken JSON too."""

    name: str
    arguments: str


class Say:
    """A reply, in pieces: each text is one event of a stream, each `asyncio.Event` is waited for at its place.

    Args:
        pieces: What it says.
        calls: The tools it calls, after what it says.
        thought: What it thinks aloud before, in the field of DeepSeek.
        delay_seconds: How long nothing comes.
        fields: More fields of the whole reply and of each event of a stream; `usage` stands in for what is counted.
    """

    def __init__(
        self,
        *pieces: str | asyncio.Event,
        calls: Sequence[Call] = (),
        thought: str = "",
        delay_seconds: float = 0.0,
        fields: Mapping[str, object] | None = None,
    ) -> None:
        self.pieces = pieces
        self.calls = tuple(calls)
        self.thought = thought
        self.delay_seconds = delay_seconds
        self.fields = dict(fields or {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    """An HTTP error as OpenAI words them."""

    status: int
    message: str = "scripted failure"
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubbish:
    """HTTP 200 with something else than a reply."""

    body: str = "<!doctype html><title>Sign in</title>"
    content_type: str = "text/html"


@dataclass(frozen=True, slots=True)
class Drop:
    """A stream whose connection breaks after this text."""

    text: str = ""


class Hang:
    """No answer, ever."""


Scripted = Say | Fail | Rubbish | Drop | Hang
Script = Callable[[Body], Scripted] | Sequence[Scripted]


@dataclass(slots=True, kw_only=True)
class Received:
    """One request as it arrived.

    Attributes:
        body: The parsed body.
        headers: The headers, lower case.
        started: When it had arrived, in seconds of `time.perf_counter`.
        ended: When it was over, None before.
        closed: Set when it is over, however it ended.
        outcome: How it ended; `disconnected` where the client went away first.
    """

    body: Body
    headers: Mapping[str, str]
    started: float
    ended: float | None = None
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    outcome: Literal["running", "served", "disconnected"] = "running"


class ScriptedEndpoint:
    """Serves a script at `base_url`, to the holder of `api_key`, under the name `model`.

    Args:
        script: A function from the request's body to what is to happen, or what is to happen, in order.
        api_key: The only key that is not answered with 401.
        model: The only model that is not answered with 404; None: any name will do.
        refuses: Fields of the body that are answered with 400, in the words of Ollama.
        max_characters: Prompts longer than this are answered with 400.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        api_key: str = "sk-scripted",
        model: str | None = "scripted",
        refuses: Sequence[str] = (),
        max_characters: int = 1_000_000,
    ) -> None:
        self.api_key = api_key
        self.model = model
        self.requests: list[Received] = []
        self.play(script)
        self._refuses = tuple(refuses)
        self._max_characters = max_characters
        self._runner: web.AppRunner | None = None
        self.base_url = ""

    def play(self, script: Script) -> None:
        """Begin anew with another script; what was received is forgotten."""
        self._next = script if callable(script) else _in_order(script)
        self.requests = []

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._serve)
        # A handler is cancelled when its client goes away, as an inference server frees its slot.
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        received = Received(
            body=await request.json(),
            headers={name.lower(): value for name, value in request.headers.items()},
            started=time.perf_counter(),
        )
        self.requests.append(received)
        try:
            response = await self._answer(request, received.body)
        except (asyncio.CancelledError, ConnectionError):
            received.outcome = "disconnected"
            raise
        else:
            received.outcome = "served"
            return response
        finally:
            received.ended = time.perf_counter()
            received.closed.set()

    async def _answer(self, request: web.Request, body: Body) -> web.StreamResponse:
        match self._refusal(request, body) or self._next(body):
            case Say() as said if body.get("stream"):
                return await self._stream(request, body, said)
            case Say() as said:
                return await self._whole(body, said)
            case Fail() as failure:
                error = {"message": failure.message, "type": "scripted", "param": None, "code": failure.code}
                return web.json_response({"error": error}, status=failure.status, headers=failure.headers)
            case Rubbish() as rubbish:
                return web.Response(text=rubbish.body, content_type=rubbish.content_type)
            case Drop() as drop:
                return await self._drop(request, drop)
            case Hang():
                never: asyncio.Future[web.StreamResponse] = asyncio.get_running_loop().create_future()
                return await never

    def _refusal(self, request: web.Request, body: Body) -> Fail | None:
        if request.headers.get("Authorization") != f"Bearer {self.api_key}":
            given = request.headers.get("Authorization", "").removeprefix("Bearer ")
            return Fail(status=401, message=f"Incorrect API key provided: {given}.", code="invalid_api_key")
        if self.model is not None and body["model"] != self.model:
            message = f"The model `{body['model']}` does not exist or you do not have access to it."
            return Fail(status=404, message=message, code="model_not_found")
        for name in self._refuses:
            if name in body:
                return Fail(status=400, message=f"{self.model} does not support {name}")
        characters = sum(len(message.get("content") or "") for message in body["messages"])
        if characters > self._max_characters:
            message = f"This model's maximum context length is {self._max_characters} characters."
            return Fail(status=400, message=message, code="context_length_exceeded")
        return None

    async def _whole(self, body: Body, said: Say) -> web.Response:
        await asyncio.sleep(said.delay_seconds)
        texts = []
        for piece in said.pieces:
            if isinstance(piece, asyncio.Event):
                await piece.wait()
            else:
                texts.append(piece)
        message: Body = {"role": "assistant", "content": "".join(texts) or None}
        if said.calls:
            message["tool_calls"] = _tool_calls(said.calls)
        if said.thought:
            message["reasoning_content"] = said.thought
        finish = "tool_calls" if said.calls else "stop"
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return web.json_response(
            {**_envelope(body, "chat.completion"), "choices": [choice], "usage": _usage(body, texts), **said.fields}
        )

    async def _stream(self, request: web.Request, body: Body, said: Say) -> web.StreamResponse:
        await asyncio.sleep(said.delay_seconds)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        usage = said.fields.get("usage")
        envelope = _envelope(body, "chat.completion.chunk") | {
            name: value for name, value in said.fields.items() if name != "usage"
        }
        if said.thought:
            await response.write(_event({**envelope, "choices": [_delta({"reasoning_content": said.thought})]}))
        texts = []
        for piece in said.pieces:
            if isinstance(piece, asyncio.Event):
                await piece.wait()
            else:
                texts.append(piece)
                await response.write(_event({**envelope, "choices": [_delta({"content": piece})]}))
        for delta in _call_deltas(said.calls):
            await response.write(_event({**envelope, "choices": [_delta({"tool_calls": [delta]})]}))
        await response.write(_event({**envelope, "choices": [_delta({}, finish_reason="stop")]}))
        if body.get("stream_options", {}).get("include_usage"):
            counted = _usage(body, texts) if "usage" not in said.fields else usage
            await response.write(_event({**envelope, "choices": [], "usage": counted}))
        await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response

    async def _drop(self, request: web.Request, drop: Drop) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        envelope = _envelope({"model": self.model}, "chat.completion.chunk")
        await response.write(_event({**envelope, "choices": [_delta({"content": drop.text})]}))
        assert request.transport is not None
        request.transport.abort()
        return response


def _in_order(script: Sequence[Scripted]) -> Callable[[Body], Scripted]:
    entries = iter(script)
    return lambda _: next(entries, Fail(status=400, message="the script has ended"))


def _envelope(body: Body, kind: str) -> Body:
    return {"id": "chatcmpl-scripted", "object": kind, "created": 0, "model": body["model"]}


def _delta(delta: Body, *, finish_reason: str | None = None) -> Body:
    return {"index": 0, "delta": delta, "finish_reason": finish_reason}


def _tool_calls(calls: Sequence[Call]) -> list[Body]:
    return [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for number, call in enumerate(calls)
    ]


def _call_deltas(calls: Sequence[Call]) -> list[Body]:
    """Cut each call in two, as OpenAI does: its name first, then its arguments."""
    deltas = []
    for index, call in enumerate(_tool_calls(calls)):
        function = call["function"]
        deltas.append({"index": index, **call, "function": {"name": function["name"], "arguments": ""}})
        deltas.append({"index": index, "function": {"arguments": function["arguments"]}})
    return deltas


def _usage(body: Body, texts: Sequence[str]) -> Body:
    """Count words for tokens in the prompt, pieces for tokens in the reply."""
    words = sum(len((message.get("content") or "").split()) for message in body["messages"])
    return {"prompt_tokens": words, "completion_tokens": len(texts), "total_tokens": words + len(texts)}


def _event(data: Body) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()
