"""Keeps what of the user's own goes along on a run: a session, secrets, headers and files.

Invariant: all of it is there and usable before anything is started, and what is to be saved is saved however the run
ends. None of it is ever shown to a model, nor written into an output or a trace.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from agent.secret_source import parse_secret
from agent.settings import Settings
from browser.acting.allowance import Allowance
from browser.environment import WebEnvironment
from browser.errors import SessionUnusable
from browser.session.identity import Identity, parse_viewport
from browser.session.profile_folder import Profile, profile_folder
from browser.session.session import Session
from browser.session.site_headers import SiteHeaders, parse_header
from browser.session.storage_state import StorageState, check_writable, load_state, save_state

logger = logging.getLogger(__name__)

_SAVE_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """Who a run is to the sites.

    Attributes:
        identity: What its browser says of itself.
        session: What sites have stored with it.
        allowance: What of the user's own may be used there.
    """

    identity: Identity
    session: Session = field(default_factory=Session)
    allowance: Allowance = field(default_factory=Allowance)


class Keeper:
    """Opens what the settings name, for one run or several.

    Use it as `with Keeper(settings) as keeper:`. Runs with a profile share its session; all others have their own.

    Args:
        settings: Which.

    Resource handling: owns the profile's lock.

    Raises:
        SessionUnusable: On entering: a file is missing, damaged or cannot be written, or another run has the profile.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stack = ExitStack()
        self._profile: Profile | None = None
        self._state: StorageState | None = None
        self._shared: Session | None = None

    def __enter__(self) -> Self:
        settings = self._settings
        with ExitStack() as stack:
            if settings.save_storage_state is not None:
                check_writable(settings.save_storage_state)
            if settings.storage_state is not None:
                self._state = load_state(settings.storage_state)
            if settings.profile is not None:
                self._profile = stack.enter_context(Profile(profile_folder(settings.profile)))
                self._shared = Session(state=self._profile.load(), personal=True)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def visitor(self, url: str) -> Visitor:
        """Return who a run is that starts at a URL.

        Raises:
            ConfigurationError: A secret has no value.
        """
        return Visitor(
            identity=identity(self._settings, url),
            session=self._shared or Session(state=self._state),
            allowance=_allowance(self._settings, url),
        )

    async def save(self, web: WebEnvironment) -> None:
        """Save what sites have stored with a run's session, if that was asked for; a failure is told in a warning."""
        places = [self._profile.path] if self._profile is not None else []
        places += [self._settings.save_storage_state] if self._settings.save_storage_state is not None else []
        if not places:
            return
        try:
            async with asyncio.timeout(_SAVE_SECONDS):
                state = await web.storage_state()
            await asyncio.to_thread(_save, places, state)
        except (SessionUnusable, TimeoutError) as error:
            logger.warning("%s", str(error) or "The session could not be saved: the browser does not answer.")


def identity(settings: Settings, url: str) -> Identity:
    """Return who a browser is to the sites of a run that starts at a URL."""
    return Identity(
        locale=settings.locale,
        viewport=parse_viewport(settings.viewport),
        user_agent=settings.user_agent,
        headers=SiteHeaders(
            headers=tuple(parse_header(header.get_secret_value()) for header in settings.headers),
            url=url if settings.headers else "",
            hosts=frozenset(settings.allow_hosts),
        ),
    )


def _allowance(settings: Settings, url: str) -> Allowance:
    headers = [parse_header(header.get_secret_value()) for header in settings.headers]
    return Allowance(
        files=settings.files,
        secrets=tuple(parse_secret(secret.get_secret_value()).secret(url) for secret in settings.secrets),
        hidden=tuple(sorted(value for header in headers for value in header.secrets)),
    )


def _save(places: list[Path], state: StorageState) -> None:
    for place in places:
        save_state(place, state)
