"""What a gesture brings about that only the page itself can see: a field found wrong, a file asked for.

Of the first the browser tells in a bubble that is no part of the page, of the second nothing until the file begins to
come.

Invariant: only what came about since the watch began is told.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

_ANSWER_SECONDS = 1.0

_WATCH = """() => {
  const key = Symbol.for("speccache.effects");
  window[key]?.watch.abort();
  const watch = new AbortController();
  const seen = (window[key] = { watch, field: null, files: 0 });
  const { signal } = watch;
  addEventListener("invalid", ({ target }) => { seen.field ??= target; }, { capture: true, signal });
  window.navigation?.addEventListener("navigate", (event) => {
    seen.files += typeof event.downloadRequest === "string" ? 1 : 0;
  }, { signal });
}"""

# A page may ask whether a field is valid without anybody having tried to send it.
_SEEN = """() => {
  const { field, files = 0 } = window[Symbol.for("speccache.effects")] ?? {};
  if (!field?.matches(":user-invalid")) return { files };
  const name = field.labels?.[0]?.textContent.trim() || field.ariaLabel || field.placeholder || field.name;
  return { invalid: `The form was not sent: "${name}" is not filled in right. ${field.validationMessage}` };
}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What a gesture brought about.

    Attributes:
        invalid: Which field kept a form from being sent, in a sentence; None where none did.
        files: How many files were asked for.
    """

    invalid: str | None = None
    files: int = 0


async def watch_effects(page: Page) -> None:
    """Begin to watch."""
    async for _ in _answers(page, _WATCH):
        pass


async def effects_on(page: Page) -> Effects:
    """Tell what has come about since."""
    seen = [answer async for answer in _answers(page, _SEEN)]
    return Effects(
        invalid=next(filter(None, (one.get("invalid") for one in seen)), None),
        files=sum(one.get("files", 0) for one in seen),
    )


async def _answers(page: Page, script: str) -> AsyncIterator[dict[str, Any]]:
    for frame in page.frames:
        answer: dict[str, Any] | None = None
        # A frame may go meanwhile, or be on its way to another document.
        with suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_ANSWER_SECONDS):
                answer = await frame.evaluate(script)
        yield answer or {}
