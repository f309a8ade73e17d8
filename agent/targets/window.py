"""How much fits a model's context window.

Invariant: an estimate errs towards too many tokens, so that what fits by it fits the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent.models.reply import Message

_ASCII_CHARACTERS_PER_TOKEN = 3.5
"""English text has about four to a token, markdown with addresses in it about three and a half."""


def estimated_tokens(text: str) -> int:
    """Estimate a text's tokens without the model's tokenizer; outside ASCII a character counts as one."""
    plain = sum(character.isascii() for character in text) if not text.isascii() else len(text)
    return int(plain / _ASCII_CHARACTERS_PER_TOKEN) + len(text) - plain + 1


def prompt_tokens(messages: Sequence[Message]) -> int:
    """Estimate the tokens of a request."""
    return sum(estimated_tokens(message.content) for message in messages)


def fitted(told: Callable[[int | None], list[Message]], text: str, *, window_tokens: int) -> list[Message]:
    """Build a request that fits, by showing no more of one text than there is room for.

    Args:
        told: Builds it, with so many characters of the text at most; None: with all of it.
        text: That text.
        window_tokens: The room for the request.
    """
    whole = told(None)
    excess = prompt_tokens(whole) - window_tokens
    if excess <= 0:
        return whole
    tokens = estimated_tokens(text)
    return told(int(len(text) * max(0, tokens - excess) / tokens))
