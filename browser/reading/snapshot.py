"""Reading a page that was navigated to: its own document, and each frame of another origin through that frame.

Invariant: the result is one document. A frame's text stands where the frame stands, and every link and control of the
whole has a number of its own; those in such frames come after the page's own.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

from browser.observation import Control, Document, Link
from browser.reading.habits import Habit
from browser.reading.load_options import LoadOptions
from browser.reading.scripts import READER

_FRAME_ELEMENT = "(index) => window[Symbol.for('speccache.frames')]?.[index]"
_FRAME = re.compile(r"<frame n=(\d+)></frame>")  # where the reader found a frame it may not look into

_MAX_HOPS = 8  # documents that a page may send the browser through by script or refresh
_READ_SECONDS = 1.0  # for reading a frame when the time for waiting is over
_MAX_DEPTH = 3  # frames of other origins within each other


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What the reader returns; texts in pieces, tables as batches of JSON."""

    url: str
    title: str
    status: int | None
    contentType: str  # noqa: N815  # the reader's names
    readiness: str
    raw: bool
    chunks: Sequence[str]
    links: Sequence[str]
    controls: Sequence[str]
    linkCount: int  # noqa: N815
    controlCount: int  # noqa: N815
    characters: int
    frames: Sequence[str]
    polls: Sequence[str]
    habit: Mapping[str, Any]
    notes: Sequence[str]
    full: str
    readMilliseconds: float  # noqa: N815
    unreadFrames: int = 0  # noqa: N815

    def seen_habit(self) -> Habit:
        """Return what this load shows of the page's habits."""
        settled = self.readiness == "settled"
        return Habit(
            polls=frozenset(self.polls),
            characters=int(self.habit["characters"]) if settled else 0,
            late_milliseconds=self.habit["lateMilliseconds"],
            vain_timers=frozenset(self.habit.get("vainTimers", ())),
            fruitful_timers=frozenset(self.habit.get("fruitfulTimers", ())),
        )


async def read(
    page: Page,
    *,
    options: LoadOptions,
    habit: Habit = Habit(),
    refresh: str = "",
    numbered: Document | None = None,
) -> Snapshot:
    """Read the page when it is ready, or the one it sends the browser on to meanwhile.

    Args:
        page: A page whose navigation has been committed.
        options: Limits.
        habit: What is known of it.
        refresh: The document's `Refresh` header.
        numbered: The last reading of this page, whose elements have their numbers already; None where it is the first.

    Raises:
        TimeoutError: The page's scripts keep the browser busy without end.
        PlaywrightError: The page died, or sends the browser on again and again.
    """
    limits = {
        "capMilliseconds": options.settle_cap_seconds * 1000,
        "readMilliseconds": options.read_cap_seconds * 1000,
        "maxCharacters": options.max_characters,
        "maxElements": options.max_elements,
        "maxLinks": options.max_links,
        "maxControls": options.max_controls,
        "maxListItems": options.max_list_items,
        "firstLink": _last_number(numbered.links) if numbered else 0,
        "firstControl": _last_number(numbered.controls) if numbered else 0,
        "polls": sorted(habit.polls),
        "characters": habit.characters,
        "lateMilliseconds": habit.late_milliseconds,
        "vainTimers": sorted(habit.vain_timers),
        "refresh": refresh,
    }
    # The page itself keeps both caps, unless it is stuck.
    seconds = options.settle_cap_seconds + options.read_cap_seconds + options.stuck_seconds
    async with asyncio.timeout(seconds):
        snapshot = await _read(page.main_frame, limits)
    if not snapshot.frames:
        return snapshot
    return await _Frames(page, options=options, limits=limits).added_to(snapshot)


def _last_number(rows: Sequence[Link | Control]) -> int:
    return max((row.number for row in rows), default=0)


async def _read(frame: Frame, limits: Mapping[str, Any]) -> Snapshot:
    for _ in range(_MAX_HOPS):
        try:
            return Snapshot(**await frame.evaluate(READER, limits))
        except PlaywrightError as error:
            if not _is_leaving(error.message):
                raise
            limits = {**limits, "refresh": ""}  # that of the document before
    raise PlaywrightError("it sends the browser on to another address again and again")


def _is_leaving(message: str) -> bool:
    return "context was destroyed" in message or "because of a navigation" in message


class _Frames:
    """Reads the frames of other origins on one page, one after the other, within one time for all."""

    def __init__(self, page: Page, *, options: LoadOptions, limits: Mapping[str, Any]) -> None:
        self._page = page
        self._options = options
        self._limits = limits
        self._deadline = asyncio.get_running_loop().time() + options.frames_cap_seconds
        self._left = options.max_frames
        self._links: list[str] = []
        self._controls: list[str] = []
        self._notes: list[str] = []
        self._unread = 0
        self._link_count = self._control_count = self._characters = 0

    async def added_to(self, snapshot: Snapshot) -> Snapshot:
        """Return the page with its frames in place."""
        self._count(snapshot)
        chunks = await self._merged(self._page.main_frame, snapshot, depth=1)
        return replace(
            snapshot,
            chunks=chunks,
            links=self._links,
            controls=self._controls,
            notes=(*dict.fromkeys(self._notes),),
            unreadFrames=self._unread,
        )

    def _count(self, snapshot: Snapshot) -> None:
        self._links.extend(snapshot.links)
        self._controls.extend(snapshot.controls)
        self._notes.extend(snapshot.notes)
        self._link_count += snapshot.linkCount
        self._control_count += snapshot.controlCount
        self._characters += snapshot.characters

    async def _merged(self, frame: Frame, snapshot: Snapshot, *, depth: int) -> list[str]:
        """Return the pieces of a document with those of its frames in their places."""
        inner: dict[int, list[str]] = {}
        for index, source in enumerate(snapshot.frames):
            pieces = await self._pieces(frame, index, source, depth=depth)
            if pieces is None:
                self._unread += 1
                self._notes.append(f"A frame of another site was not read: {source}")
            inner[index] = pieces or []
        return _in_place(snapshot.chunks, inner)

    async def _pieces(self, outer: Frame, index: int, source: str, *, depth: int) -> list[str] | None:
        """Read one frame; None where that cannot be done."""
        self._left -= 1
        if self._left < 0 or depth > _MAX_DEPTH:
            return None
        with suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout_at(self._deadline + _READ_SECONDS):
                frame = await _inner_frame(outer, index, source, seconds=self._seconds_left())
                if frame is None or frame.url.startswith("chrome-error:"):
                    return None
                snapshot = await _read(frame, self._rest())
            self._count(snapshot)
            if snapshot.raw:
                return [f"<pre>{escape(chunk, quote=False)}</pre>" for chunk in snapshot.chunks]
            return await self._merged(frame, snapshot, depth=depth + 1)
        return None

    def _seconds_left(self) -> float:
        return max(0.05, self._deadline - asyncio.get_running_loop().time())

    def _rest(self) -> dict[str, Any]:
        """The limits, less what was read before, for the next frame."""
        return {
            **self._limits,
            "capMilliseconds": self._seconds_left() * 1000,
            "maxCharacters": max(1, self._options.max_characters - self._characters),
            "maxLinks": max(0, self._options.max_links - self._link_count),
            "maxControls": max(0, self._options.max_controls - self._control_count),
            "firstLink": self._limits["firstLink"] + self._link_count,
            "firstControl": self._limits["firstControl"] + self._control_count,
            "refresh": "",
            "characters": 0,  # its habits are not those of the page
            "lateMilliseconds": 0,
            "vainTimers": (),
        }


async def _inner_frame(outer: Frame, index: int, source: str, *, seconds: float) -> Frame | None:
    """Find the frame of an element, and wait until its document has begun to come."""
    handle = await outer.evaluate_handle(_FRAME_ELEMENT, index)
    element = handle.as_element()
    frame = await element.content_frame() if element else None
    await handle.dispose()
    if frame is not None and source.startswith("http") and frame.url in ("", "about:blank"):
        await frame.wait_for_url(lambda url: url != "about:blank", wait_until="commit", timeout=seconds * 1000)
    return frame


def _in_place(chunks: Sequence[str], inner: dict[int, list[str]]) -> list[str]:
    """Put what was read of frames where they stand; where that is inside something flat, at the end."""
    merged: list[str] = []
    for chunk in chunks:
        alone = _FRAME.fullmatch(chunk)
        if alone:
            merged.extend(inner.pop(int(alone[1]), ()))
        else:
            merged.append(_FRAME.sub(lambda found: "".join(inner.pop(int(found[1]), ())), chunk))
    return [*merged, *(piece for pieces in inner.values() for piece in pieces)]
