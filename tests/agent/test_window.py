"""Requests that fit, by estimates that err towards too many tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.models.reply import Message
from agent.targets.window import estimated_tokens, fitted, prompt_tokens


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("four score and seven", 4), ("\u6e2f\u6709\u8239", 3)])
def test_an_estimate_is_no_less_than_a_tokenizer_counts(text: str, tokens: int) -> None:
    assert estimated_tokens(text) >= tokens


@given(text=st.text(min_size=1, max_size=400), room=st.integers(40, 400))
def test_a_request_is_cut_to_the_room_there_is_and_no_further(text: str, room: int) -> None:
    def told(limit: int | None) -> list[Message]:
        return [Message(role="user", content="q" * 35 + (text if limit is None else text[:limit]))]

    whole = told(None)
    request = fitted(told, text, window_tokens=room)
    assert (request == whole) is (prompt_tokens(whole) <= room or len(request[0].content) == len(whole[0].content))
    assert request[0].content.startswith("q" * 35)
