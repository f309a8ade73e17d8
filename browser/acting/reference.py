"""From the number an agent read to the element on the live page.

Invariant: a reference means the very element that was shown under it. Where that element is gone, or has become
something else, the reference is stale and says why; it never falls on another element.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

from playwright.async_api import ElementHandle, Frame, Page
from playwright.async_api import Error as PlaywrightError

from browser.errors import ActionFailed, StaleReference
from browser.observation import Control, Document, Link

_WRITTEN = re.compile(r"(?:^|\[)(c?)(\d{1,6})\]?$")
_STALENESS = "([kind, number]) => window[Symbol.for('speccache.references')]?.staleness(kind, number) ?? null"
_ELEMENT = "([kind, number]) => window[Symbol.for('speccache.references')].element(kind, number)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A link or a control, by its number."""

    kind: Literal["link", "control"]
    number: int

    def __str__(self) -> str:
        return f"{'c' if self.kind == 'control' else ''}{self.number}"


def parse(written: str) -> Reference:
    """Read a reference: `c3`, `[c3]` or `[button "Save"][c3]` for a control, the same without `c` for a link.

    Raises:
        ActionFailed: It is none.
    """
    found = _WRITTEN.search(written.strip())
    if found is None:
        raise ActionFailed(
            f"{written!r} is no control or link: use its number, such as c3 for a control, 12 for a link."
        )
    return Reference(kind="control" if found[1] else "link", number=int(found[2]))


def carry_over(reference: Reference, *, shown: Document, live: Document) -> Reference:
    """Find the number that the element shown under a reference has on another load of the same page.

    Equal elements are told apart by their order, which counts only where there are as many of them.

    Raises:
        StaleReference: It cannot be told which one it is.
    """
    before, now = _rows(shown, reference), _rows(live, reference)
    row = next((row for row in before if row.number == reference.number), None)
    if row is None:
        raise StaleReference(f"There is no {describe(reference, shown)} on this page.")
    twins = [twin for twin in before if _identity(twin) == _identity(row)]
    found = [twin for twin in now if _identity(twin) == _identity(row)]
    if len(twins) != len(found):
        raise StaleReference(
            f"{describe(reference, shown)} cannot be told apart any more: the page was loaded again and now has"
            f" {len(found)} of that name instead of {len(twins)}."
        )
    return Reference(kind=reference.kind, number=found[twins.index(row)].number)


def describe(reference: Reference, document: Document) -> str:
    """Name an element as an agent knows it: `c3 (button "Save")`."""
    row = next((row for row in _rows(document, reference) if row.number == reference.number), None)
    match row:
        case Control():
            return f'{reference} ({row.kind} "{row.name}")'
        case Link():
            return f'{reference} (link "{row.text}")'
        case None:
            return str(reference)


async def find_element(page: Page, reference: Reference, *, name: str) -> ElementHandle:
    """Return the element, belonging to the frame it stands in.

    Raises:
        StaleReference: It is gone or changed, or the page never showed it.
    """
    arguments: Sequence[str | int] = [reference.kind, reference.number]
    known: dict[Frame, str] = {}
    for frame in page.frames:  # the main frame knows the elements of those of its origin
        staleness = await _staleness(frame, arguments)
        if staleness is not None:
            known[frame] = staleness
    match list(known.items()):
        case []:
            raise StaleReference(f"{name} is stale: the document now at {page.url} never showed it.")
        case [(frame, "")]:
            element = (await frame.evaluate_handle(_ELEMENT, arguments)).as_element()
            if element is not None:
                return await _at_home(element, frame)
            raise StaleReference(f"{name} is stale: it is no longer on the page.")
        case [(_, staleness)]:
            raise StaleReference(f"{name} is stale: {staleness}.")
        case _:
            raise StaleReference(f"{name} is stale: two frames of the page have an element of that number.")


async def _staleness(frame: Frame, arguments: Sequence[str | int]) -> str | None:
    try:
        found: str | None = await frame.evaluate(_STALENESS, arguments)
    except PlaywrightError:
        if frame.parent_frame is None:
            raise
        return None  # the frame has just gone
    return found


async def _at_home(element: ElementHandle, frame: Frame) -> ElementHandle:
    """Return the element as its own frame sees it: only there does the browser check what covers it."""
    owner = await element.owner_frame()
    if owner is None or owner == frame:
        return element
    own = (await owner.evaluate_handle("(element) => element", element)).as_element()
    return own or element


def _rows(document: Document, reference: Reference) -> Sequence[Control | Link]:
    return document.controls if reference.kind == "control" else document.links


def _identity(row: Control | Link) -> Hashable:
    return (row.kind, row.name) if isinstance(row, Control) else (row.text, row.url)
