"""Every setting, from wherever it comes: flag, then environment, then `speccache.toml`, then default.

Invariant: a setting is checked here, once; nothing is started with a wrong one.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, Field, PositiveInt, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from agent.browsing_settings import BrowsingSettings
from agent.errors import ConfigurationError
from agent.models.providers import OPENAI, key_variable
from browser.shared_cache.address import parse_cache_address

SETTINGS_FILE = Path("speccache.toml")

EMBEDDED = "embedded"
LOCAL = "local"
_OPENAI_TARGET = "gpt-5-mini"
_OPENAI_DRAFT = "gpt-4.1-mini"


class PredictorName(StrEnum):
    """What guesses ahead."""

    DEFAULT = "default"
    """The ranker's best at once, then the draft model's guesses, then the ranker's others; without a draft: `rank`."""
    DRAFT = "draft"
    """The draft model alone."""
    RANK = "rank"
    """The free ranker alone."""
    FIRST = "first"
    """The first links of the page."""
    RANDOM = "random"
    """Random links of the page, the same in every run."""
    NONE = "none"
    """Nothing: only pages visited before are kept."""


class Strategy(StrEnum):
    """How a model thinks."""

    REFLEXION = "reflexion"
    """It writes down what each page contributes, and a critic says when that answers the question."""
    REACT = "react"
    """It decides, and no more: one call a turn."""


_NEVER_FROM_A_FILE = (
    *("base_url", "api_key", "secrets", "files", "proxy", "allow_hosts", "browser", "search", "shared_cache"),
    *("egress_host", "profile", "storage_state", "save_storage_state", "downloads", "otel"),
)


class _SettingsFile(TomlConfigSettingsSource):
    """The file, less what decides which program runs, and where something of the user's own is read from or sent to.

    It is read from whatever folder a command is started in, so it may have come with somebody else's project.
    """

    def __call__(self) -> dict[str, Any]:
        for name in _NEVER_FROM_A_FILE:
            if name in self.toml_data:
                raise ValueError(f"{name} is not read from a file, only from the environment or a flag")
        return super().__call__()


class Settings(BrowsingSettings, BaseSettings):
    """What can be set, as `SPECCACHE_<NAME>` or in `speccache.toml` by the same name in lower case."""

    model_config = SettingsConfigDict(
        env_prefix="SPECCACHE_", extra="forbid", frozen=True, populate_by_name=True, toml_file=SETTINGS_FILE
    )

    target: str | None = None
    """The target model, by its name or as `provider:name`, `embedded` or `local`; None: an OpenAI model where there is
    a key for it, else embedded."""
    draft: str | None = None
    """The draft model's name; None: an OpenAI model where the target is one, else no draft model; `none`: none."""
    base_url: str | None = Field(None, validation_alias=AliasChoices("SPECCACHE_BASE_URL", "OPENAI_BASE_URL"))
    """An OpenAI-compatible endpoint for models without a provider's name; None: OpenAI's own."""
    api_key: SecretStr | None = None
    """That endpoint's key; providers' keys are read from their own variables, see `agent.models.providers`."""
    fallback: tuple[str, ...] = ()
    """Models that are asked in this order where the target fails."""
    service_tier: Literal["default", "flex", "priority"] | None = None
    """What to ask the provider for: faster for more money, or slower for less; None: nothing."""
    hedge: float | None = Field(None, ge=0, le=0.5)
    """Second requests sent for each model call at most; None: 0.1 with a provider that is known by name, else 0."""
    hedge_start_seconds: float = Field(30.0, gt=0)
    """When a second request is sent while too little was measured to know what is late."""
    connect_seconds: float = Field(10.0, gt=0)
    """How long a connection to a model may take."""
    first_token_seconds: float | None = Field(None, gt=0)
    """How long a model may take to begin; None: as long as for all. What a model thinks unseen counts."""
    model_seconds: float = Field(120.0, gt=0)
    """How long one request to a model may take."""
    model_retries: int = Field(2, ge=0)
    """How often a failed model call is repeated."""
    model_calls: PositiveInt | dict[str, PositiveInt] | None = None
    """Requests to one provider begun in any minute at most, or by provider or host; None: no limit."""
    prices: Path | None = None
    """A table of what models cost, before the one that comes along; see `agent.models.prices`."""
    speculation: bool = True
    """Whether likely next pages are loaded while the target thinks."""
    predictor: PredictorName = PredictorName.DEFAULT
    """What guesses which pages these are."""
    act: bool = False
    """Whether a model may use controls: click, type, choose; else it only reads."""
    max_guesses: int = Field(3, ge=1, le=16)
    """Guesses taken up a turn at most."""
    max_turns: int = Field(10, ge=1)
    """Decisions at most."""
    strategy: Strategy = Strategy.REFLEXION
    """How a model thinks."""
    context_tokens: int = Field(24_000, ge=2_000)
    """What one request to the target holds at most; older pages are replaced by notes."""
    schema_file: Path | None = None
    """A JSON schema that the answer is to keep; None: the answer is text."""
    think: float = Field(0.0, ge=0)
    """Mean seconds of simulated thinking a turn; 0: none."""
    settle_seconds: float = Field(5.0, gt=0)
    """How long a page may take to settle after its first byte."""
    load_seconds: float = Field(30.0, gt=0)
    """How long a server may take to answer with a page."""
    part_chars: int = Field(16_000, ge=500)
    """Length of one part of a long page, in characters."""
    weights: Path | None = None
    """The file of the small model that `local` uses; None: where `install-model` puts it."""
    otel: bool = False
    """Whether OpenTelemetry spans and metrics are sent, to where the `OTEL_*` variables say."""
    log_format: Literal["text", "json"] = "text"
    """How standard error is written: for people, or as one JSON object a line."""
    log_level: Literal["debug", "info", "warning", "error"] | None = None
    """What is logged; None: warnings, and with JSON what a person would be told, too."""
    shelf: Path | None = None
    """The file in which public pages are kept for later runs; None: none are."""
    shared_cache: SecretStr | None = None
    """The Redis or Valkey server that keeps public pages for several workers, `redis://…`; None: there is none."""

    @field_validator("predictor", mode="before")
    @classmethod
    def _refuse_the_oracle(cls, name: object) -> object:
        if name == "oracle":
            raise ValueError("the oracle must be given the way to the answer, so only tests and evals can use it")
        return name

    @field_validator("shared_cache")
    @classmethod
    def _check_shared_cache(cls, url: SecretStr | None, others: ValidationInfo) -> SecretStr | None:
        if url is not None:
            parse_cache_address(url.get_secret_value())
            if others.data.get("shelf") is not None:
                raise ValueError("pages are kept on a shelf or in a shared cache, not in both")
        return url

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order the sources: flags, environment, file."""
        return init_settings, env_settings, _SettingsFile(settings_cls)

    @property
    def has_endpoint(self) -> bool:
        """Whether an endpoint for models without a provider's name is configured."""
        return self.base_url is not None or self.api_key is not None or key_variable(OPENAI) is not None

    @property
    def target_name(self) -> str:
        """The target in force.

        Raises:
            ConfigurationError: An endpoint of unknown models is configured and no model is named.
        """
        if self.target is not None:
            return self.target
        if not self.has_endpoint:
            return EMBEDDED
        if self.base_url is not None and "api.openai.com" not in self.base_url:
            raise ConfigurationError(
                f"which model at {self.base_url} shall decide is not set", hint="Name it with --target NAME."
            )
        return _OPENAI_TARGET

    @property
    def draft_name(self) -> str | None:
        """The draft model in force; None: none, or the predictor does without."""
        if self.predictor not in (PredictorName.DEFAULT, PredictorName.DRAFT):
            return None
        if self.draft is not None:
            return None if self.draft == "none" else self.draft
        return _OPENAI_DRAFT if self.target_name == _OPENAI_TARGET else None


def load_settings(**flags: Any) -> Settings:
    """Read the settings; a flag that is None was not given.

    Raises:
        ConfigurationError: One is wrong, unknown, or the file cannot be read.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        name = ".".join(str(part) for part in problem["loc"])
        raise ConfigurationError(
            f"the setting {name} is wrong: {problem['msg'].removeprefix('Value error, ')}",
            hint=f"Correct it where it is set: {_places(name)}.",
        ) from error
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"{SETTINGS_FILE} cannot be read: {error}", hint="Correct the file or remove it."
        ) from error


def _places(name: str) -> str:
    from agent.flags import flag_of  # noqa: PLC0415 - only a wrong setting needs it

    plain = name.lower().removeprefix("speccache_").partition(".")[0]
    file = "" if plain in _NEVER_FROM_A_FILE else str(SETTINGS_FILE)
    *places, last = filter(None, (flag_of(plain), f"SPECCACHE_{plain.upper()}", file))
    return f"{', '.join(places)} or {last}" if places else last
