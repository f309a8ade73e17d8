"""Where a model is reached, and that no key goes anywhere but where it belongs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import ConfigurationError
from agent.models.providers import PROVIDERS, ModelAddress, locate

KEYS = {
    "OPENAI_API_KEY": "key-of-openai",
    "ANTHROPIC_API_KEY": "key-of-anthropic",
    "DEEPSEEK_API_KEY": "key-of-deepseek",
    "GEMINI_API_KEY": "key-of-google",
    "TOGETHER_API_KEY": "key-of-together",
}
ELSEWHERE = "http://127.0.0.1:8000/v1"


@pytest.mark.parametrize(
    ("name", "model", "url"),
    [
        ("openai:gpt-5-mini", "gpt-5-mini", "https://api.openai.com/v1"),
        ("anthropic:claude-sonnet-4-5", "claude-sonnet-4-5", "https://api.anthropic.com/v1"),
        ("deepseek:deepseek-chat", "deepseek-chat", "https://api.deepseek.com"),
        ("google:gemini-2.5-flash", "gemini-2.5-flash", "https://generativelanguage.googleapis.com/v1beta/openai"),
        ("together:openai/gpt-oss-20b", "openai/gpt-oss-20b", "https://api.together.ai/v1"),
    ],
)
def test_a_provider_is_reached_by_its_name(name: str, model: str, url: str) -> None:
    for base_url in (None, ELSEWHERE):
        address = locate(name, base_url=base_url, api_key="key-of-the-base-url", environment=KEYS)
        assert (address.model, address.base_url, address.label) == (model, url, name)
        assert address.api_key == f"key-of-{name.partition(':')[0]}"
        assert address.api_key not in repr(address)


def test_a_bare_name_is_openais_where_nothing_else_is_said() -> None:
    address = locate("gpt-5-mini", environment=KEYS)
    assert (address.label, address.api_key) == ("openai:gpt-5-mini", "key-of-openai")


def test_a_bare_name_is_the_endpoints_and_takes_no_providers_key() -> None:
    address = locate("mine", base_url=ELSEWHERE, environment=KEYS)
    assert address == ModelAddress(model="mine", base_url=ELSEWHERE, api_key="")
    assert (address.label, address.host) == ("mine", "127.0.0.1")
    assert locate("mine", base_url=ELSEWHERE, api_key="own", environment=KEYS).api_key == "own"


def test_a_name_with_a_colon_is_a_provider_only_where_it_is_in_the_table() -> None:
    for name in ("llama3.1:8b", "deepseek-r1:8b", "openai:", ":x"):
        assert locate(name, base_url=ELSEWHERE, environment=KEYS).model == name


@pytest.mark.parametrize(
    "url", ["https://api.openai.com/v1", "https://api.openai.com", "https://api.openai.com:443/v1/"]
)
def test_a_providers_own_address_is_recognised(url: str) -> None:
    address = locate("gpt-5-mini", base_url=url, environment=KEYS)
    assert (address.label, address.api_key) == ("openai:gpt-5-mini", "key-of-openai")


def test_the_two_variables_of_openai_belong_together() -> None:
    environment = {**KEYS, "OPENAI_BASE_URL": ELSEWHERE}
    for name in ("mine", "openai:mine"):
        address = locate(name, base_url=ELSEWHERE, environment=environment)
        assert (address.model, address.base_url, address.api_key) == ("mine", ELSEWHERE, "key-of-openai")
        assert address.provider is None
    other = locate("mine", base_url="http://127.0.0.1:9000/v1", environment=environment)
    assert other.api_key == ""


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS)
def test_without_its_key_a_provider_is_not_asked(provider: object) -> None:
    name = getattr(provider, "name", "")
    with pytest.raises(ConfigurationError, match=f"no API key for {name}") as caught:
        locate(f"{name}:any", api_key="", environment={})
    assert caught.value.hint.startswith(f"Set {PROVIDERS[name].key_variables[0]}")


def test_googles_key_is_found_by_either_name() -> None:
    assert locate("google:gemini-2.5-pro", environment={"GOOGLE_API_KEY": "k"}).key_variable == "GOOGLE_API_KEY"


@given(
    st.sampled_from([*(f"{name}:m" for name in PROVIDERS), "m"]),
    st.sampled_from([None, ELSEWHERE, "https://evil.example/v1", *(one.base_url for one in PROVIDERS.values())]),
    st.sampled_from([None, ELSEWHERE, "https://api.openai.com/v1"]),
    st.sampled_from(["", "own"]),
)
def test_a_key_goes_only_where_it_belongs(name: str, base_url: str | None, paired: str | None, own: str) -> None:
    environment = KEYS if paired is None else {**KEYS, "OPENAI_BASE_URL": paired}
    address = locate(name, base_url=base_url or paired, api_key=own, environment=environment)
    homes = {
        f"key-of-{provider.name}": {provider.base_url} for provider in PROVIDERS.values() if provider.name != "openai"
    }
    homes["key-of-openai"] = {paired or PROVIDERS["openai"].base_url}
    homes["own"] = {base_url or paired or PROVIDERS["openai"].base_url}
    assert address.api_key == "" or address.base_url in homes[address.api_key]
