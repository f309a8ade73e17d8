"""What tokens cost: the user's own table, else the one that the package `genai-prices` brings.

Invariant: what is not known is None, never 0; nothing is fetched, so the prices are as old as the table, whose version
or date is told with them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from datetime import date
from importlib.metadata import version
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent.errors import ConfigurationError
from agent.models.providers import TIERS, ModelAddress
from agent.target import Usage

_TOKENS = 1_000_000


class _Rate(BaseModel):
    """US dollars for a million tokens."""

    model_config = ConfigDict(extra="forbid")

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(None, ge=0)

    def cost_usd(self, usage: Usage) -> float:
        """Return what tokens cost."""
        cached = self.input if self.cached_input is None else self.cached_input
        full_tokens = usage.input_tokens - usage.cached_tokens
        return (full_tokens * self.input + usage.cached_tokens * cached + usage.output_tokens * self.output) / _TOKENS


class _Entry(_Rate):
    """A model's rates, with those of its other service tiers."""

    priority: _Rate | None = None
    flex: _Rate | None = None


class _Table(BaseModel):
    """A user's table."""

    model_config = ConfigDict(extra="forbid")

    date: date
    models: dict[str, _Entry]


class Prices:
    """Tells what tokens cost.

    Args:
        path: The user's table, a TOML file: a `date`, and for each model a section `[models."openai:gpt-5-mini"]` (a
            bare name for an endpoint of one's own) with `input`, `output` and perhaps `cached_input`, in US dollars
            for a million tokens; `priority` and `flex` are tables of the same three.

    Raises:
        ConfigurationError: The file cannot be read.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._own: Mapping[str, _Entry] = {}
        self.origin = f"genai-prices {version('genai-prices')}"
        if path is not None:
            table = _read(path)
            self._own = table.models
            self.origin = f"{path.name} of {table.date}, else {self.origin}"

    def cost_usd(self, address: ModelAddress, usage: Usage, service_tier: str = "") -> float | None:
        """Return what tokens of a model cost at a service tier; None: not known."""
        tier = service_tier if service_tier in TIERS else ""
        own = self._own.get(address.label)
        if own is None:
            return _published_usd(address, usage, tier)
        rate = {"priority": own.priority, "flex": own.flex}.get(tier, own)
        return None if rate is None else rate.cost_usd(usage)


def _published_usd(address: ModelAddress, usage: Usage, tier: str) -> float | None:
    if address.provider is None:
        return None
    import genai_prices  # noqa: PLC0415 - 1.6 MB of tables

    provider = address.provider.name
    try:
        price = genai_prices.calc_price(
            genai_prices.Usage(
                input_tokens=usage.input_tokens,
                cache_read_tokens=usage.cached_tokens,
                output_tokens=usage.output_tokens,
            ),
            model_ref=address.model,
            provider_id=provider,
            price_context={"service_tier": tier} if tier else None,
        )
    except LookupError:
        return None
    # It falls back to other providers' prices, and to standard ones for a tier it does not know.
    tiers = {variant.when.get("service_tier") for variant in price.model.price_variants or ()}
    if price.provider.id != provider or (tier and tier not in tiers):
        return None
    return float(price.total_price)


def _read(path: Path) -> _Table:
    try:
        with path.open("rb") as file:
            return _Table.model_validate(tomllib.load(file))
    except OSError as error:
        raise ConfigurationError(
            f"the prices {path} cannot be read: {error.strerror}", hint="Correct the path given with --prices."
        ) from error
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in problem["loc"])
        raise ConfigurationError(
            f"the prices {path} are wrong at {place}: {problem['msg']}", hint="Each model needs input and output."
        ) from error
    except ValueError as error:
        raise ConfigurationError(f"the prices {path} are no TOML: {error}", hint="Correct the file.") from error
