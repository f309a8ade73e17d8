"""What a chat model makes of its settings, before anything is sent."""

from __future__ import annotations

import pytest

from agent.errors import ConfigurationError
from agent.model import ChatModel


def test_openai_itself_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ConfigurationError, match="no API key"):
        ChatModel("gpt-5-mini")


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host/v1", "http://", "http://host:port/v1"])
def test_an_address_that_cannot_be_right_is_told(url: str) -> None:
    with pytest.raises(ConfigurationError, match="no address"):
        ChatModel("any", base_url=url)


@pytest.mark.parametrize("key", ["“quoted”", "two\nlines"])
def test_a_key_that_cannot_be_right_is_told_and_not_repeated(key: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        ChatModel("any", base_url="http://host/v1", api_key=key)
    assert key not in str(caught.value)


async def test_credentials_in_an_address_are_not_shown() -> None:
    model = ChatModel("any", base_url="http://user:secret@host/v1?token=secret", api_key="k")
    assert model.endpoint == "http://host/v1"
    assert "secret" not in repr(model)
    await model.aclose()


async def test_an_endpoint_that_is_named_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://host/v1/")
    model = ChatModel("any")
    assert repr(model) == "ChatModel(any at http://host/v1)"
    await model.aclose()
