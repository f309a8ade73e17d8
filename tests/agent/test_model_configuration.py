"""What a chat model makes of its settings, before anything is sent."""

from __future__ import annotations

import pytest

from agent.errors import ConfigurationError
from agent.models.model import ChatModel
from agent.models.reply import Message
from tests.endpoints.connected import connected
from tests.endpoints.scripted import Say, ScriptedEndpoint


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host/v1", "http://", "http://host:port/v1"])
def test_an_address_that_cannot_be_right_is_told(url: str) -> None:
    with pytest.raises(ConfigurationError, match="no address"):
        ChatModel("any", base_url=url)


@pytest.mark.parametrize("key", ["“quoted”", "two\nlines"])
def test_a_key_that_cannot_be_right_is_told_and_not_repeated(key: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        ChatModel("any", base_url="http://host/v1", api_key=key, key_variable="SOME_KEY")
    assert key not in str(caught.value)
    assert "SOME_KEY" in caught.value.hint


async def test_credentials_in_an_address_are_not_shown() -> None:
    model = ChatModel("any", base_url="http://user:secret@host/v1?token=secret", api_key="k")
    assert model.endpoint == "http://host/v1"
    assert "secret" not in repr(model)
    await model.aclose()


async def test_what_the_environment_holds_for_openai_goes_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"):
        monkeypatch.setenv(f"OPENAI_{name}", f"secret-{name}")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer secret")
    async with ScriptedEndpoint([Say("fine")]) as endpoint, connected(endpoint) as model:
        await model.complete([Message(role="user", content="how are you")])
    assert endpoint.requests[0].headers["authorization"] == "Bearer sk-scripted"
    assert "secret" not in str(endpoint.requests[0].headers)
