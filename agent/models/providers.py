"""Where a model is reached, and with which key.

Invariant: a key goes to the address it belongs to and nowhere else: a provider's to that provider, `OPENAI_API_KEY` to
the address in `OPENAI_BASE_URL` where that is set, `SPECCACHE_API_KEY` to the one given with `--base-url`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from yarl import URL

from agent.errors import ConfigurationError

BASE_URL_VARIABLE = "OPENAI_BASE_URL"
OWN_KEY_VARIABLE = "SPECCACHE_API_KEY"
TIERS = frozenset({"priority", "flex"})
"""Beside `default`, which every provider has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """Who serves models behind an OpenAI-compatible endpoint.

    Attributes:
        name: What stands before the colon in `--target openai:NAME`.
        base_url: The endpoint.
        key_variables: Where its key is looked for, in this order.
        service_tiers: Tiers that a request can ask for, beside `default`.
    """

    name: str
    base_url: str
    key_variables: tuple[str, ...]
    service_tiers: frozenset[str] = frozenset()


OPENAI = Provider(
    name="openai", base_url="https://api.openai.com/v1", key_variables=("OPENAI_API_KEY",), service_tiers=TIERS
)
_LISTED = (
    OPENAI,
    # Its compatibility layer ignores `service_tier`, `seed` and `response_format`, and hides what was thought:
    # https://platform.claude.com/docs/en/api/openai-sdk
    Provider(name="anthropic", base_url="https://api.anthropic.com/v1", key_variables=("ANTHROPIC_API_KEY",)),
    # Keeps waiting clients alive with blank lines: https://api-docs.deepseek.com/quick_start/rate_limit
    Provider(name="deepseek", base_url="https://api.deepseek.com", key_variables=("DEEPSEEK_API_KEY",)),
    # https://ai.google.dev/gemini-api/docs/openai
    Provider(
        name="google",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        service_tiers=TIERS,
    ),
    # https://docs.together.ai/docs/inference/openai-compatibility
    Provider(name="together", base_url="https://api.together.ai/v1", key_variables=("TOGETHER_API_KEY",)),
)
PROVIDERS: Mapping[str, Provider] = {provider.name: provider for provider in _LISTED}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAddress:
    """Where a model is reached.

    Attributes:
        model: Its name at the endpoint.
        base_url: The endpoint.
        api_key: Its key; empty where there is none.
        key_variable: Where the key is set.
        provider: Who serves it; None for an endpoint that is in no table.
    """

    model: str
    base_url: str
    api_key: str = field(default="", repr=False)
    key_variable: str = OWN_KEY_VARIABLE
    provider: Provider | None = None

    @property
    def label(self) -> str:
        """The model's name with its provider's, where it has one."""
        return f"{self.provider.name}:{self.model}" if self.provider else self.model

    @property
    def server(self) -> str:
        """The endpoint's host and port, without credentials."""
        url = URL(self.base_url)
        return f"{url.host_subcomponent}:{url.port}" if url.host_subcomponent else ""

    @property
    def host(self) -> str:
        """What shares one rate limit: the provider, or the endpoint's host."""
        return self.provider.name if self.provider else URL(self.base_url).host or self.base_url


def locate(
    name: str,
    *,
    base_url: str | None = None,
    api_key: str = "",
    providers: Mapping[str, Provider] = PROVIDERS,
    environment: Mapping[str, str] = os.environ,
) -> ModelAddress:
    """Find out where a model is reached.

    Args:
        name: The model, as `provider:name`, or its bare name: at `base_url`, else at OpenAI.
        base_url: The endpoint of models with bare names.
        api_key: Its key.
        providers: Providers by name.
        environment: Holds the providers' keys.

    Raises:
        ConfigurationError: There is no key for the provider.
    """
    prefix, colon, rest = name.partition(":")
    if colon and rest and prefix in providers:
        return _at_provider(rest, providers[prefix], environment=environment)
    if base_url is None:
        return _at_provider(name, providers[OPENAI.name], api_key=api_key, environment=environment)
    for provider in providers.values():
        if _same_endpoint(base_url, provider.base_url):
            return _at_provider(name, provider, api_key=api_key, environment=environment)
    paired = environment.get(BASE_URL_VARIABLE)
    if not api_key and paired and _same_endpoint(base_url, paired):
        key = environment.get(OPENAI.key_variables[0], "")
        return ModelAddress(model=name, base_url=base_url, api_key=key, key_variable=OPENAI.key_variables[0])
    return ModelAddress(model=name, base_url=base_url, api_key=api_key)


def key_variable(provider: Provider, environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the variable that holds the provider's key; None where none does."""
    return next((name for name in provider.key_variables if environment.get(name, "").strip()), None)


def _at_provider(model: str, provider: Provider, *, api_key: str = "", environment: Mapping[str, str]) -> ModelAddress:
    paired = environment.get(BASE_URL_VARIABLE)
    if provider.name == OPENAI.name and paired and not _same_endpoint(paired, provider.base_url):
        # The two variables belong together: that key may be another endpoint's, and must not go to OpenAI.
        key = environment.get(OPENAI.key_variables[0], "")
        return ModelAddress(model=model, base_url=paired, api_key=key, key_variable=OPENAI.key_variables[0])
    variable = key_variable(provider, environment)
    key = api_key or (environment[variable] if variable else "")
    if not key.strip():
        raise ConfigurationError(
            f"There is no API key for {provider.name}.",
            hint=f"Set {' or '.join(provider.key_variables)}, or name an endpoint that needs none with --base-url.",
        )
    return ModelAddress(
        model=model,
        base_url=provider.base_url,
        api_key=key,
        key_variable=OWN_KEY_VARIABLE if api_key else variable or provider.key_variables[0],
        provider=provider,
    )


def _same_endpoint(one: str, other: str) -> bool:
    """Tell whether two addresses are those of one server; the path may differ, as OpenAI's with and without `/v1`."""
    try:
        first, second = URL(one), URL(other)
        return all(getattr(first, part) == getattr(second, part) for part in ("scheme", "host", "port"))
    except ValueError:
        return False
