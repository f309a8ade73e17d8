"""What tokens cost, and that what is not known is not 0."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from agent.errors import ConfigurationError
from agent.models.prices import Prices
from agent.models.providers import ModelAddress, locate
from agent.target import Usage

MILLION = Usage(input_tokens=1_000_000, output_tokens=1_000_000)
CACHED = Usage(input_tokens=1_000_000, output_tokens=1_000_000, cached_tokens=1_000_000)
KEYS = dict.fromkeys(
    ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "DEEPSEEK_API_KEY", "GEMINI_API_KEY", "TOGETHER_API_KEY"], "k"
)
OWN = """
date = 2026-05-01
[models."openai:gpt-5-mini"]
input = 1
output = 2
cached_input = 0.1
priority = {input = 10, output = 20}
[models.mine]
input = 3
output = 4
"""


def _address(name: str) -> ModelAddress:
    return locate(name, environment=KEYS)


@pytest.mark.parametrize(
    "name",
    [
        "openai:gpt-5-mini",
        "openai:gpt-4.1-mini-2025-04-14",
        "anthropic:claude-sonnet-4-5-20250929",
        "deepseek:deepseek-chat",
        "google:gemini-2.5-flash",
        "together:meta-llama/Llama-3.3-70B-Instruct-Turbo",
    ],
)
def test_known_models_have_a_price(name: str) -> None:
    cost = Prices().cost_usd(_address(name), MILLION)
    assert cost is not None
    assert 0.1 < cost < 100


@pytest.mark.parametrize("name", ["openai:no-such-model", "deepseek:gpt-5-mini", "together:nobody/nothing"])
def test_what_is_not_known_is_not_free(name: str) -> None:
    assert Prices().cost_usd(_address(name), MILLION) is None


def test_a_model_of_ones_own_has_no_price_unless_one_is_given(tmp_path: Path) -> None:
    address = ModelAddress(model="mine", base_url="http://localhost/v1")
    assert Prices().cost_usd(address, MILLION) is None
    path = tmp_path / "prices.toml"
    path.write_text(OWN)
    assert Prices(path).cost_usd(address, MILLION) == 7


def test_what_was_cached_is_cheaper_and_tiers_differ() -> None:
    prices, address = Prices(), _address("openai:gpt-5-mini")
    plain, cached, flex, priority = (
        prices.cost_usd(address, MILLION),
        prices.cost_usd(address, CACHED),
        prices.cost_usd(address, MILLION, "flex"),
        prices.cost_usd(address, MILLION, "priority"),
    )
    assert None not in (plain, cached, flex, priority)
    assert (cached or 0) < (plain or 0)
    assert (flex or 0) < (plain or 0) < (priority or 0)
    assert prices.cost_usd(address, MILLION, "default") == plain
    assert prices.cost_usd(_address("deepseek:deepseek-chat"), MILLION, "priority") is None


def test_ones_own_prices_come_first(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(OWN)
    prices, address = Prices(path), _address("openai:gpt-5-mini")
    assert prices.cost_usd(address, MILLION) == 3
    assert prices.cost_usd(address, CACHED) == pytest.approx(2.1)
    assert prices.cost_usd(address, MILLION, "priority") == 30
    assert prices.cost_usd(address, MILLION, "flex") is None
    assert Prices(path).cost_usd(_address("openai:gpt-4.1"), MILLION) == Prices().cost_usd(
        _address("openai:gpt-4.1"), MILLION
    )


def test_it_is_told_how_old_the_prices_are(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(OWN)
    known = f"genai-prices {version('genai-prices')}"
    assert Prices().origin == known
    assert Prices(path).origin == f"prices.toml of 2026-05-01, else {known}"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("date = = 1", "no TOML"),
        ("[models.x]\ninput = 1\noutput = 1", "date"),
        ("date = 2026-01-01\n[models.x]\ninput = 1", "models.x.output"),
        ("date = 2026-01-01\n[models.x]\ninput = -1\noutput = 1", "models.x.input"),
        ("date = 2026-01-01\n[models.x]\ninput = 1\noutput = 1\nimput = 1", "imput"),
        (None, "cannot be read"),
    ],
)
def test_a_wrong_table_is_told_of(tmp_path: Path, content: str | None, says: str) -> None:
    path = tmp_path / "prices.toml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConfigurationError, match=says) as caught:
        Prices(path)
    assert caught.value.hint
