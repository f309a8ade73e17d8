"""Settings of the browser: who it is to the sites, what of the user's own may go there, and where it may go.

Invariant: each is checked by its form here; what must be there is opened by `agent.keeper`, before anything else.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import NoDecode

from agent.secret_source import parse_secret
from browser.egress.upstream import parse_proxy
from browser.remote.endpoint import BrowserChoice, parse_browsers, split
from browser.search.engine_name import parse_engine
from browser.session.identity import VIEWPORT, parse_locale, parse_viewport
from browser.session.profile_folder import profile_folder
from browser.session.site_headers import parse_header

AUTO = "auto"
MAX_POOL_SIZE = 64

_PRINTABLE = re.compile(r"[\x20-\x7e]+")


class BrowsingSettings(BaseModel):
    """The part of the settings that the browser's side reads."""

    pool_size: int | Literal["auto"] = 4
    """Pages that may load ahead at once; `auto`: follows what is wanted and what the machine bears."""
    questions_at_once: int = Field(8, ge=1, le=64)
    """Questions that may hold live pages at once; others wait for their turn."""
    max_memory: int | None = Field(None, ge=128)
    """What all browsers may take together, in MiB; None: what is free on this machine."""
    host_loads: int = Field(6, ge=1, le=64)
    """Real loads that may run at one host at once, over all questions."""
    host_rate: float | None = Field(None, gt=0)
    """Loads that may begin at one host in a second, ahead of time or not; None: any number."""
    browser: Annotated[tuple[SecretStr, ...], NoDecode] = ()
    """The Chromium to use, or addresses of remote ones, see `browser.remote.endpoint`; in the environment with commas
    between them. None: the first that is found."""
    egress_host: str | None = None
    """The address of this machine at which remote browsers reach its proxy; None: loopback."""
    headed: bool = False
    """Whether real actions are done in a window; pages are loaded ahead in one that is never seen."""
    locale: str = "en-US"
    """The language pages are asked for."""
    viewport: str = str(VIEWPORT)
    """The size of a page's window, in pixels."""
    user_agent: str | None = None
    """What the browser calls itself; None: by its own name."""
    headers: tuple[SecretStr, ...] = ()
    """`Name: value`, sent to the start page's site and to the hosts named beside it, and nowhere else."""
    proxy: SecretStr | None = None
    """The proxy that everything goes through; None: the environment's, if any."""
    storage_state: Path | None = None
    """A file with cookies and storage to begin with, as Playwright writes it."""
    save_storage_state: Path | None = None
    """Where they are written at the end."""
    profile: str | None = None
    """The name of a session that is kept from run to run, or its folder."""
    secrets: tuple[SecretStr, ...] = ()
    """`NAME[@HOST][=VALUE]`: what a model may have typed without seeing it; see `agent.secret_source`."""
    files: tuple[Path, ...] = ()
    """Files that a model may upload."""
    downloads: Path | None = None
    """The folder for files that pages give; None: a temporary one."""
    allow_domains: tuple[str, ...] = ()
    """The only domains that are reached, with all below them; empty: any."""
    deny_domains: tuple[str, ...] = ()
    """Domains that are never reached, nor any below them."""
    allow_hosts: tuple[str, ...] = ()
    """Private hosts that may be visited beside the start page's own."""
    search: str | None = None
    """The search engine, as `browser.search.engine_name` reads it; its host may be private. None: there is none."""

    @field_validator("pool_size", mode="before")
    @classmethod
    def _check_pool_size(cls, size: object) -> object:
        if size == AUTO or (str(size).isascii() and str(size).isdigit() and 1 <= int(str(size)) <= MAX_POOL_SIZE):
            return size
        raise ValueError(f"it is a number from 1 to {MAX_POOL_SIZE}, or '{AUTO}'")

    @field_validator("browser", mode="before")
    @classmethod
    def _split_browser(cls, named: object) -> object:
        return tuple(split([str(named)])) if isinstance(named, str | Path) else named

    @field_validator("browser")
    @classmethod
    def _check_browser(cls, named: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        parse_browsers(text.get_secret_value() for text in named)
        return named

    @field_validator("headed")
    @classmethod
    def _check_headed(cls, headed: bool, others: ValidationInfo) -> bool:
        if headed and any("://" in text.get_secret_value() for text in others.data.get("browser", ())):
            raise ValueError("a remote browser has no window on this machine")
        return headed

    @property
    def browsers(self) -> BrowserChoice:
        """Which browser was asked for."""
        return parse_browsers(text.get_secret_value() for text in self.browser)

    @field_validator("locale")
    @classmethod
    def _check_locale(cls, locale: str) -> str:
        return parse_locale(locale)

    @field_validator("viewport")
    @classmethod
    def _check_viewport(cls, viewport: str) -> str:
        return str(parse_viewport(viewport))

    @field_validator("user_agent")
    @classmethod
    def _check_user_agent(cls, name: str | None) -> str | None:
        if name is not None and not _PRINTABLE.fullmatch(name):
            raise ValueError("it is empty, or has characters that no header may hold")
        return name

    @field_validator("headers")
    @classmethod
    def _check_headers(cls, headers: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        for header in headers:
            parse_header(header.get_secret_value())
        return headers

    @field_validator("proxy")
    @classmethod
    def _check_proxy(cls, proxy: SecretStr | None) -> SecretStr | None:
        if proxy is not None:
            parse_proxy(proxy.get_secret_value())
        return proxy

    @field_validator("profile")
    @classmethod
    def _check_profile(cls, profile: str | None, others: ValidationInfo) -> str | None:
        if profile is not None:
            profile_folder(profile)
            if others.data.get("storage_state") is not None:
                raise ValueError("a session begins with a profile or with a storage state, not with both")
        return profile

    @field_validator("search")
    @classmethod
    def _check_search(cls, search: str | None) -> str | None:
        if search is not None:
            parse_engine(search)
        return search

    @field_validator("secrets")
    @classmethod
    def _check_secrets(cls, secrets: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        names = [parse_secret(secret.get_secret_value()).name for secret in secrets]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"there are two secrets with the name {min(twice)}")
        return secrets

    @field_validator("files")
    @classmethod
    def _check_files(cls, files: tuple[Path, ...]) -> tuple[Path, ...]:
        for file in files:
            if not file.expanduser().is_file():
                raise ValueError(f"there is no file {file}")
        return tuple(file.expanduser().absolute() for file in files)
