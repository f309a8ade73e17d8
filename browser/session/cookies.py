"""The cookies of a session, and when two sessions see the same pages.

Invariant: equal fingerprints mean that a page shows the same to both.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from playwright.async_api import Error as PlaywrightError

from browser.errors import SessionUnusable, SlotCrashed
from browser.reading.failure import is_dead
from browser.session.storage_state import StorageState

if TYPE_CHECKING:
    from browser.slots.slot import Slot

Cookies = Sequence[Any]
"""Cookies as Playwright gives and takes them."""

# Analytics scripts rewrite these on every view; they never change what a page shows.
_ANALYTICS = re.compile(r"_ga\w*|_gid|_gat\w*|_gcl_\w+|_fbp|_fbc|_uet\w+|_hj\w+|_pk_\w+|_clck|_clsk|__utm\w*")

ANONYMOUS = "anonymous"

_COOKIE_SECONDS = 10.0
_STATE_SECONDS = 10.0


async def cookies_of(slot: Slot) -> Cookies:
    """Read the cookies a slot holds now.

    Raises:
        SlotCrashed: Its browser died.
    """
    try:
        async with asyncio.timeout(_COOKIE_SECONDS):
            return await slot.context.cookies()
    except (PlaywrightError, TimeoutError) as error:
        raise SlotCrashed("the browser died while its cookies were being read") from error


async def give_cookies(slot: Slot, cookies: Cookies) -> None:
    """Put these cookies, and no others, into a slot.

    Cancellation: the slot is of no use any more.

    Raises:
        SlotCrashed: Its browser died.
        SessionUnusable: It does not take them.
    """
    slot.cookies = None
    try:
        async with asyncio.timeout(_COOKIE_SECONDS):
            await slot.context.clear_cookies()
            if cookies:
                await slot.context.add_cookies(list(cookies))
    except asyncio.CancelledError:
        slot.crashed = True  # it may hold none now, which must not be taken for what the session has come to
        raise
    except (PlaywrightError, TimeoutError) as error:
        raise _refusal(error, "cookies") from error
    slot.cookies = cookies


async def give_state(slot: Slot, state: StorageState) -> None:
    """Put cookies, storage and databases into a slot that is new.

    Raises:
        SlotCrashed: Its browser died.
        SessionUnusable: It does not take them.
    """
    try:
        async with asyncio.timeout(_STATE_SECONDS):
            await slot.context.set_storage_state(cast(Any, state))  # the same keys, by another name
    except (PlaywrightError, TimeoutError) as error:
        raise _refusal(error, "storage state") from error


def _refusal(error: PlaywrightError | TimeoutError, what: str) -> SlotCrashed | SessionUnusable:
    if isinstance(error, TimeoutError) or is_dead(error.message):
        return SlotCrashed(f"the browser died while it was given the {what}")
    return SessionUnusable(f"the browser does not take the {what}: {error.message}", hint="Correct the saved session.")


async def state_of(slot: Slot) -> StorageState | None:
    """Read all that a slot has stored, databases included; None where its browser does not answer."""
    try:
        async with asyncio.timeout(_STATE_SECONDS):
            found = await slot.context.storage_state(indexed_db=True)
    except (PlaywrightError, TimeoutError):
        return None
    return StorageState(cookies=found["cookies"], origins=[{**origin} for origin in found["origins"]])


def fingerprint(cookies: Cookies) -> str:
    """Name a set of cookies, without what only analytics reads; no cookie at all is `ANONYMOUS`."""
    facts = sorted(
        (cookie["name"], cookie["domain"], cookie["path"], cookie["value"])
        for cookie in cookies
        if not _ANALYTICS.fullmatch(cookie["name"])
    )
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:12] if facts else ANONYMOUS
