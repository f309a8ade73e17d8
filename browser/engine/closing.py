"""Closing what may be dead or may not answer.

Invariant: a call that closes something ends within its time limit, and what is gone already counts as closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any

from playwright.async_api import Error as PlaywrightError


async def end_quietly(closing: Awaitable[Any], *, seconds: float) -> None:
    """Wait for something to close; what is dead or does not answer in time counts as closed."""
    with suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(seconds):
            await closing
