"""What is said to a model and what it says back, as plain values.

Invariant: a text here is a `str` and a count an `int`, whatever the endpoint sent: the `openai` client parses replies
without validating them. What a reasoning model thinks is never in a reply's text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agent.models.thought import split
from agent.target import Usage

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
        thought: What a reasoning model thought aloud before; empty where it does not show that.
        tool_calls: The tools it called, in its order.
        usage: Tokens of the call; zero where the endpoint does not say.
        seconds: From the request to the whole reply.
        service_tier: The tier it was served by; empty where the endpoint does not say.
    """

    text: str = ""
    thought: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    service_tier: str = ""


def characters(messages: Sequence[Message]) -> int:
    """Return the length of a conversation."""
    return sum(len(message.content) for message in messages)


def read_reply(completion: Any, *, seconds: float) -> Reply:
    """Take a reply out of what the client parsed, whatever that is; raises one of `MISSHAPEN` where it is no reply."""
    message = completion.choices[0].message
    calls = [call.function for call in message.tool_calls or ()]
    parts = split(read_text(message.content or message.refusal))
    return Reply(
        text=parts.text,
        thought=f"{read_thought(message)}\n{parts.thought}".strip(),
        tool_calls=tuple(ToolCall(name=read_text(call.name), arguments=read_text(call.arguments)) for call in calls),
        usage=read_usage(completion.usage),
        seconds=seconds,
        service_tier=read_tier(completion),
    )


def read_text(value: object) -> str:
    """Read a text, or nothing."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"not a text: {value!r}")
    return value


def read_thought(message: Any) -> str:
    """Read what a message or a piece of one says beside its content: DeepSeek's field, or that of Together and vLLM."""
    for name in ("reasoning_content", "reasoning"):
        thought = getattr(message, name, None)
        if isinstance(thought, str) and thought:
            return thought
    return ""


def read_tier(completion: Any) -> str:
    """Read the tier that served a reply, or a piece of one."""
    tier = getattr(completion, "service_tier", None)
    return tier if isinstance(tier, str) else ""


def read_usage(usage: Any) -> Usage:
    """Read the tokens of a call."""
    if usage is None:
        return Usage()
    input_tokens = int(usage.prompt_tokens or 0)
    # Google counts what was thought in the total alone.
    thought_tokens = _count(usage, "total_tokens") - input_tokens
    cached = _count(getattr(usage, "prompt_tokens_details", None), "cached_tokens")
    return Usage(
        input_tokens=input_tokens,
        output_tokens=max(int(usage.completion_tokens or 0), thought_tokens),
        cached_tokens=min(input_tokens, cached or _count(usage, "prompt_cache_hit_tokens")),  # DeepSeek's
    )


def _count(holder: Any, name: str) -> int:
    value = getattr(holder, name, None)
    return value if isinstance(value, int) else 0
