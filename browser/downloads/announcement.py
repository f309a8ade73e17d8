"""What is told to the watchers inside a page's frames, since they cannot see it by themselves.

Invariant: a frame that has gone, or does not answer, holds nothing up for long.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

_ANSWER_SECONDS = 2.0
_ACT = "window[Symbol.for('speccache.readiness')]?.act()"
_STAY = "window[Symbol.for('speccache.readiness')]?.stay()"


async def announce_action(page: Page) -> None:
    """Say that what happens from now on is an answer, to be waited for."""
    await _tell(page, _ACT)


async def announce_stay(page: Page) -> None:
    """Say that the navigation under way leads to no document: what came is a file, or nothing at all."""
    await _tell(page, _STAY)


async def _tell(page: Page, script: str) -> None:
    for frame in page.frames:
        # A frame may go meanwhile, and of the page itself every later step would say so.
        with suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_ANSWER_SECONDS):
                await frame.evaluate(script)
