"""The tools loop of the chat-completions protocol, with likely next calls run ahead while the model thinks.

Invariant: the model sees what it would see without speculation. The calls of one message take effect in its order:
reads run side by side, and no write beside anything else.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from openai import AsyncOpenAI

from agent.adapters.streamed_message import Message, StreamedMessage
from speccache.errors import InvalidCall
from speccache.tools import SpeculativeTools


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What came of a tools loop.

    Attributes:
        messages: All messages, those it began with first.
        answer: What the model said last; None where it still wanted to call tools after the last round.
    """

    messages: tuple[Message, ...]
    answer: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    id: str
    name: str
    arguments: str


async def run_tools(
    client: AsyncOpenAI,
    tools: SpeculativeTools,
    *,
    model: str,
    messages: Sequence[Mapping[str, Any]],
    schemas: Sequence[Mapping[str, Any]],
    max_rounds: int = 16,
    stream: bool = False,
    **options: Any,
) -> Conversation:
    """Let a model call tools until it answers.

    Args:
        client: Where the model is asked; it stays the caller's.
        tools: The tools by the names that the schemas have. What one returns is told to the model as it is where it is
            a text, and as JSON otherwise.
        model: The model's name.
        messages: What the conversation begins with.
        schemas: The tools as the protocol's `tools` wants them.
        max_rounds: How often the model is asked at most.
        stream: Whether its replies are streamed: a read begins as soon as it is written, while the reply goes on.
        options: More fields of each request, such as `temperature`.

    Raises:
        openai.OpenAIError: The model could not be asked.
        Exception: Whatever a tool raises; a name or arguments that no tool has are told to the model instead.
    """
    said: list[Message] = [dict(message) for message in messages]
    for _ in range(max_rounds):
        request = {"model": model, "messages": said, "tools": list(schemas), **options}
        message = await (_streamed(client, tools, request) if stream else _whole(client, request))
        said.append(message)
        wanted = [
            _Wanted(id=call["id"], name=call["function"]["name"], arguments=call["function"]["arguments"])
            for call in message.get("tool_calls", ())
            if call.get("type", "function") == "function"
        ]
        if not wanted:
            return Conversation(messages=tuple(said), answer=message.get("content", ""))
        said += await _results(tools, wanted)
    return Conversation(messages=tuple(said), answer=None)


async def _whole(client: AsyncOpenAI, request: Mapping[str, Any]) -> Message:
    completion = await client.chat.completions.create(**request)
    return cast("Message", completion.choices[0].message.model_dump(exclude_none=True))


async def _streamed(client: AsyncOpenAI, tools: SpeculativeTools, request: Mapping[str, Any]) -> Message:
    reply = StreamedMessage(tools)
    async with await client.chat.completions.create(**request, stream=True) as chunks:
        async for chunk in chunks:
            reply.take(chunk)
    return reply.message


async def _results(tools: SpeculativeTools, wanted: Sequence[_Wanted]) -> list[Message]:
    results: list[Message] = []
    for together in _batches(tools, wanted):
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(_told(tools, call), name=f"tool {call.name}") for call in together]
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from failed  # as if they had run one after the other
        results += [
            {"role": "tool", "tool_call_id": call.id, "content": task.result()}
            for call, task in zip(together, tasks, strict=True)
        ]
    return results


def _batches(tools: SpeculativeTools, wanted: Sequence[_Wanted]) -> Iterator[list[_Wanted]]:
    """Give the calls in order, neighbouring reads together."""
    reads: list[_Wanted] = []
    for call in wanted:
        if tools.is_read(call.name):
            reads.append(call)
            continue
        if reads:
            yield reads
        yield [call]
        reads = []
    if reads:
        yield reads


async def _told(tools: SpeculativeTools, wanted: _Wanted) -> str:
    try:
        arguments = json.loads(wanted.arguments or "{}")
    except json.JSONDecodeError as error:
        return f"error: {wanted.name}: the arguments are no JSON: {error}"
    if not isinstance(arguments, dict):
        return f"error: {wanted.name}: the arguments are no JSON object"
    try:
        value = await tools.call(wanted.name, **arguments)
    except InvalidCall as error:
        return f"error: {error}"
    return content(value)


def content(value: object) -> str:
    """Write what a tool returned as a model is told it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
