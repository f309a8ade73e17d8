"""A reply of the chat-completions protocol while it streams: reads begin as soon as they are written.

Invariant: the message is the one that would have come as a whole. A call is only begun once its arguments are complete,
and never ahead of one with effects that comes before it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from speccache.tools import SpeculativeTools

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionChunk

Message = dict[str, Any]

_MAX_EARLY_CHARS = 10_000
"""Longer arguments are not looked at before the reply has ended: they would be read again and again as they grow."""


class StreamedMessage:
    """Takes the chunks of one reply, and has its reads begun by `SpeculativeTools.expect`.

    Use it as `async for chunk in stream: reply.take(chunk)`, then make the calls in `reply.message` as ever.

    Args:
        tools: The tools by the names that the model knows.
    """

    def __init__(self, tools: SpeculativeTools) -> None:
        self._tools = tools
        self._fields: Message = {"role": "assistant"}
        self._calls: list[dict[str, Any]] = []
        self._by_index: dict[int, dict[str, Any]] = {}
        self._begun = 0

    @property
    def message(self) -> Message:
        """What was said so far, without what is empty."""
        return {**self._fields, "tool_calls": self._calls} if self._calls else self._fields

    def take(self, chunk: ChatCompletionChunk) -> None:
        """Add a chunk, and begin what is complete with it."""
        for choice in chunk.choices or ():
            delta = choice.delta.model_dump(exclude_none=True)
            if choice.index == 0:
                for fragment in delta.pop("tool_calls", ()):
                    self._add(fragment)
                _extend(self._fields, delta)
        self._begin()

    def _add(self, fragment: dict[str, Any]) -> None:
        """Add to the call of this index; Google gives several calls one index, but each its own id."""
        index, identity = fragment.pop("index", 0), fragment.get("id")
        call = self._by_index.get(index)
        if call is None or (identity and call["id"] not in ("", identity)):
            call = self._by_index[index] = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
            self._calls.append(call)
        function = fragment.pop("function", {})
        call["function"]["arguments"] += function.pop("arguments", "")
        call["function"] |= {name: value for name, value in function.items() if value}
        call |= {name: value for name, value in fragment.items() if value}

    def _begin(self) -> None:
        """Begin the calls that are complete, in their order: each may depend on one with effects before it."""
        for call in self._calls[self._begun :]:
            name, arguments = call["function"]["name"], _complete(call["function"]["arguments"])
            if not self._tools.is_read(name) or (arguments is None and call is self._calls[-1]):
                return
            self._begun += 1
            if arguments is not None:
                self._tools.expect(name, **arguments)


def _extend(fields: Message, delta: Message) -> None:
    """Add what a delta says; what thinks aloud comes in fields of its own, which some endpoints want to have back."""
    delta.pop("role", None)
    for name, value in delta.items():
        if isinstance(value, str | list) and isinstance(fields.get(name), type(value)):
            fields[name] += value
        elif value:
            fields[name] = value


def _complete(written: str) -> dict[str, Any] | None:
    """Read arguments; None while they are no JSON object yet: nothing can follow one that is."""
    if len(written) > _MAX_EARLY_CHARS or not written.rstrip().endswith("}"):
        return None
    try:
        read = json.loads(written)
    except json.JSONDecodeError:
        return None
    return read if isinstance(read, dict) else None
