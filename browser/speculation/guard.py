"""Keeps a speculative page from doing anything but reading.

Invariant: while a guard is installed, no request of its page with another method than GET, HEAD or OPTIONS reaches a
server, and neither the page nor a frame in it goes off the site, or where the gate would not let it. The tool is CDP's
Fetch domain, narrowed to the requests that can have effects: unlike a Playwright route it leaves the HTTP cache on and
sees every redirect.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from importlib.resources import files
from typing import Any

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from browser.address import same_site
from browser.slots.right_of_way import RightOfWay
from browser.speculation.gate import departure_refusal

GUARD_SCRIPT = files("browser.speculation").joinpath("guard.js").read_text(encoding="utf-8")
"""Init script of every guarded page's context: takes away the ways out that the page's CDP session does not see."""

# A frame of another site: its requests would pass unseen, in a process of their own. Nobody reads it.
_FOREIGN_FRAME = "foreign-frame"
# What the browser sends on the page's behalf, about the page or for the one after it.
_ASIDE = "aside"
# Without these the page reads the same, so it may be kept.
_BLAMELESS = (_FOREIGN_FRAME, _ASIDE)

_ANSWER_SECONDS = 5.0
_READING = ("GET", "HEAD", "OPTIONS")
_KINDS = ("Document", "XHR", "Fetch", "Ping", "CSPViolationReport", "Other")
_PATTERNS = [{"urlPattern": "*", "resourceType": kind} for kind in _KINDS]


class Guard:
    """Watches one page; `arm()` it before each load.

    Args:
        page: The page.
        session: The CDP session it is watched through.
        main_frame: The id of its main frame.
        right_of_way: What its requests wait for.

    Resource handling: owns the tasks that answer the browser; close it with `aclose()`.
    """

    def __init__(self, page: Page, session: CDPSession, main_frame: str, right_of_way: RightOfWay) -> None:
        self._right_of_way = right_of_way
        self._page = page
        self._session = session
        self._main_frame = main_frame
        self._answers: set[asyncio.Task[None]] = set()
        self._url = ""
        self.blocked: str | None = None
        """Why the first request of this load that was blocked was blocked; None where none was."""

    @classmethod
    async def install(cls, page: Page, right_of_way: RightOfWay) -> Guard:
        """Attach to a page, before it loads anything."""
        session = await page.context.new_cdp_session(page)
        target = await session.send("Target.getTargetInfo")
        main_frame = target["targetInfo"]["targetId"]  # a page's main frame has its target's id
        guard = cls(page, session, main_frame, right_of_way)
        session.on("Fetch.requestPaused", guard._decide)
        session.on("Page.windowOpen", guard._on_window)
        await session.send("Page.enable")
        await session.send("Fetch.enable", {"patterns": _PATTERNS})
        return guard

    async def verdict(self) -> str | None:
        """Say why what the page did forbids to keep it; None where it only read."""
        if self.blocked is not None:
            return self.blocked
        with suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_ANSWER_SECONDS):
                return await self._done()
        return "gone"

    async def _done(self) -> str | None:
        done: str | None = await self._page.evaluate("window[Symbol.for('speccache.guard')]?.done ?? null")
        return done

    def arm(self, url: str) -> None:
        """Forget the load before, and expect this address."""
        self._url = url
        self.blocked = None

    def _on_window(self, _: dict[str, Any]) -> None:
        self.blocked = self.blocked or "opens-window"

    def _decide(self, paused: dict[str, Any]) -> None:
        reason = self._refusal(paused)
        if reason is not None and reason not in _BLAMELESS:
            self.blocked = self.blocked or reason
        answer = self._answer(paused["requestId"], passes=reason is None)
        task = asyncio.get_running_loop().create_task(answer, name="guard")
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def _answer(self, request: str, *, passes: bool) -> None:
        with suppress(PlaywrightError):  # the page may be gone
            if passes:
                await self._right_of_way.wait()
                await self._session.send("Fetch.continueRequest", {"requestId": request})
            else:
                await self._session.send("Fetch.failRequest", {"requestId": request, "errorReason": "BlockedByClient"})

    def _refusal(self, paused: dict[str, Any]) -> str | None:
        request, kind = paused["request"], paused.get("resourceType")
        if _is_aside(kind, request) or (kind == "Ping" and not same_site(request["url"], self._url)):
            return _ASIDE
        if request["method"] not in _READING:
            return f"sends-{request['method'].lower()}"
        if kind != "Document":
            return None
        if paused.get("frameId") != self._main_frame and not same_site(request["url"], self._url):
            return _FOREIGN_FRAME
        return departure_refusal(request["url"] + request.get("urlFragment", ""), asked_url=self._url)

    async def aclose(self) -> None:
        """Wait for the last answers; the session goes with its page."""
        if self._answers:
            await asyncio.wait(self._answers, timeout=1.0)


def _is_aside(kind: str | None, request: dict[str, Any]) -> bool:
    # Of what the page itself waits for, nothing has this priority: it is a `<link rel=prefetch>`, or speculation rules.
    ahead = kind in ("Fetch", "Other") and request.get("initialPriority") == "VeryLow"
    return ahead or kind == "CSPViolationReport"
