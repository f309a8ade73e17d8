"""The cookies of a session, and when two sessions see the same pages.

Invariant: equal fingerprints mean that a page shows the same to both.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as PlaywrightError

from browser.errors import SlotCrashed

if TYPE_CHECKING:
    from browser.pool import Slot

Cookies = Sequence[Any]
"""Cookies as Playwright gives and takes them."""

# Analytics scripts rewrite these on every view; they never change what a page shows.
_ANALYTICS = re.compile(r"_ga\w*|_gid|_gat\w*|_gcl_\w+|_fbp|_fbc|_uet\w+|_hj\w+|_pk_\w+|_clck|_clsk|__utm\w*")

ANONYMOUS = "anonymous"


async def cookies_of(slot: Slot) -> Cookies:
    """Read the cookies a slot holds now.

    Raises:
        SlotCrashed: Its browser died.
    """
    try:
        return await slot.context.cookies()
    except PlaywrightError as error:
        raise SlotCrashed("the browser died while its cookies were being read") from error


async def give_cookies(slot: Slot, cookies: Cookies) -> None:
    """Put these cookies, and no others, into a slot.

    Raises:
        SlotCrashed: Its browser died.
    """
    try:
        await slot.context.clear_cookies()
        if cookies:
            await slot.context.add_cookies(list(cookies))
    except PlaywrightError as error:
        raise SlotCrashed("the browser died while cookies were being set") from error
    slot.cookies = cookies


def fingerprint(cookies: Cookies) -> str:
    """Name a set of cookies, without what only analytics reads; no cookie at all is `ANONYMOUS`."""
    facts = sorted(
        (cookie["name"], cookie["domain"], cookie["path"], cookie["value"])
        for cookie in cookies
        if not _ANALYTICS.fullmatch(cookie["name"])
    )
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:12] if facts else ANONYMOUS
