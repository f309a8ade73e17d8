"""Flag, then environment, then file, then default."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.errors import ConfigurationError
from agent.settings import load_settings


@pytest.fixture(autouse=True)
def empty_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "SPECCACHE_API_KEY", "SPECCACHE_BASE_URL", "SPECCACHE_POOL_SIZE"):
        monkeypatch.delenv(name, raising=False)


def test_each_source_beats_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().pool_size == 4
    Path("speccache.toml").write_text("pool_size = 5\n")
    assert load_settings().pool_size == 5
    monkeypatch.setenv("SPECCACHE_POOL_SIZE", "6")
    assert load_settings(pool_size=None).pool_size == 6
    assert load_settings(pool_size=7).pool_size == 7


def test_without_key_or_endpoint_the_embedded_target_decides() -> None:
    settings = load_settings()
    assert (settings.target_name, settings.draft_name) == ("embedded", None)


def test_with_a_key_the_published_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    settings = load_settings()
    assert (settings.target_name, settings.draft_name) == ("gpt-5-mini", "gpt-4.1-mini")
    assert "sk-secret" not in repr(settings)
    assert load_settings(draft="none").draft_name is None
    assert load_settings(target="embedded").draft_name is None


def test_an_unknown_endpoint_needs_a_models_name() -> None:
    settings = load_settings(base_url="http://localhost:1/v1")
    with pytest.raises(ConfigurationError, match="which model") as error:
        _ = settings.target_name
    assert "--target" in error.value.hint
    assert load_settings(base_url="http://localhost:1/v1", target="mine").draft_name is None


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("pool_size = 0", "pool_size"),
        ("pool_size = 'many'", "pool_size"),
        ("pool_sise = 3", "pool_sise"),
        ("pool_size = = 3", "cannot be read"),
        ("base_url = 'https://evil.example/'", "not read from a file"),
        ("api_key = 'x'", "not read from a file"),
        ("proxy = 'http://evil.example'", "not read from a file"),
        ("allow_hosts = ['evil.example']", "not read from a file"),
        ("browser = './anything'", "not read from a file"),
        ("egress_host = '0.0.0.0'", "not read from a file"),
        ("save_storage_state = 'here.json'", "not read from a file"),
    ],
)
def test_a_wrong_file_is_told_of(content: str, says: str) -> None:
    Path("speccache.toml").write_text(content)
    with pytest.raises(ConfigurationError, match=says) as error:
        load_settings()
    assert error.value.hint


@pytest.mark.parametrize(
    ("name", "value"),
    [("service_tier", "fast"), ("hedge", 0.6), ("hedge", -0.1), ("model_calls", 0), ("model_calls", {"openai": 0})],
)
def test_how_models_are_called_is_checked(name: str, value: object) -> None:
    with pytest.raises(ConfigurationError, match=name):
        load_settings(**{name: value})


def test_rate_limits_may_differ_by_provider() -> None:
    Path("speccache.toml").write_text("fallback = ['deepseek:deepseek-chat']\n[model_calls]\nopenai = 60\n")
    settings = load_settings()
    assert settings.model_calls == {"openai": 60}
    assert settings.fallback == ("deepseek:deepseek-chat",)


def test_a_providers_key_alone_chooses_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    assert load_settings().target_name == "embedded"


def test_browsers_elsewhere_are_named_by_flags_or_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECCACHE_BROWSER", "ws://a:1/?token=s3cret,http://b:2#weight=3")
    settings = load_settings()
    assert [str(endpoint) for endpoint in settings.browsers.endpoints] == ["ws://a:1", "http://b:2"]
    assert "s3cret" not in repr(settings) + settings.model_dump_json()
    assert len(load_settings(browser=["ws://a:1,ws://b:1", "ws://c:1"]).browsers.endpoints) == 3
    monkeypatch.setenv("SPECCACHE_BROWSER", "/opt/chromium")
    assert load_settings().browsers.executable == Path("/opt/chromium")


def test_a_wrong_browser_is_told_without_its_token() -> None:
    for browser, headed in (("ws://me:s3cret@a:1#x", None), ("ws://s3cret", True)):
        with pytest.raises(ConfigurationError, match=r"browser is wrong|headed is wrong") as error:
            load_settings(browser=browser, headed=headed)
        assert "s3cret" not in str(error.value)
        assert "--" in error.value.hint
