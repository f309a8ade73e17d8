"""One thing a person does with mouse and keyboard.

Invariant: a gesture reaches the element it is meant for, as a person's would (visible, enabled, not covered), or it
fails and says what was in the way; it never does nothing in silence.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import get_args

from playwright.async_api import ElementHandle, Page
from playwright.async_api import Error as PlaywrightError

from browser.acting.allowance import Allowance
from browser.acting.secret_typing import type_secret
from browser.action import Check, Click, Direction, Hover, Press, Scroll, Select, Type, Upload, WaitFor
from browser.errors import ActionFailed, StaleReference

GESTURE_SECONDS = 3.0
"""How long an element may take to become visible, enabled and uncovered."""

TEXT_SECONDS = 10.0
"""How long a text that is waited for may take."""

_FRAME_SECONDS = 1.0
_LOOK_SECONDS = 0.2
_MAX_KEY_STROKES = 1_000  # a longer text goes in at once, as if it were pasted
_MILLISECONDS = GESTURE_SECONDS * 1000

# A link may have no box of its own, only children that float out of it.
_BOX = """(element) => {
  const has = (part) => part.getBoundingClientRect().width > 0 && part.getBoundingClientRect().height > 0;
  return has(element) ? element : [...element.querySelectorAll("*")].find(has) ?? element;
}"""

# The driver takes a click for done that it kept from an element which took the place of the one meant.
_WATCH_PRESSES = """(element) => {
  const presses = { reached: false, element };
  const note = (event) => { presses.reached ||= event.composedPath().includes(element); };
  const options = { capture: true, passive: true, signal: AbortSignal.timeout(10000) };
  for (const kind of ["pointerdown", "mousedown", "click"]) window.addEventListener(kind, note, options);
  return presses;
}"""

_WAS_MISSED = "(presses) => !presses.reached && !presses.element.isConnected"

# How a field takes text: all at once, as one line, as many; "" where it takes none by itself.
_FIELD = """(element) => {
  if (element.readOnly) return "read-only";
  if (/^(date|time|datetime-local|month|week|color|range)$/.test(element.type)) return "value";
  if (/^(checkbox|radio|file|submit|button|reset|image)$/.test(element.type)) return "";
  if (element.localName === "input") return "line";
  return element.localName === "textarea" ? "lines" : element.isContentEditable ? "editor" : "";
}"""

_HAS_FOCUS = """(element) => {
  const focus = element.getRootNode().activeElement;
  return Boolean(focus) && (focus === element || focus.contains(element));
}"""

_FOCUS_IS_EDITABLE = """() => {
  let focus = document.activeElement;
  while (focus?.shadowRoot?.activeElement) focus = focus.shadowRoot.activeElement;
  return Boolean(focus) && (focus.isContentEditable || /^(input|textarea|iframe)$/.test(focus.localName));
}"""

_OPTION = """(list, label) => {
  if (list.localName !== "select") return { problem: "is no list with options: click it, then click the option" };
  const squeeze = (text) => text.replace(/\\s+/g, " ").trim();
  const found = [...list.options].filter((option) => squeeze(option.text) === squeeze(label));
  if (found.length !== 1) return { problem: `has ${found.length || "no"} options "${label}"` };
  if (list.disabled || list.matches(":disabled")) return { problem: "is disabled" };
  const isOff = found[0].disabled || found[0].parentElement.disabled;
  if (isOff) return { problem: `has its option "${label}" disabled` };
  const others = list.multiple ? [...list.selectedOptions].map((option) => option.index) : [];
  const { index } = found[0];
  return { chosen: others.includes(index) ? others.filter((other) => other !== index) : [...others, index] };
}"""

_FILE_FIELD = """(element) => {
  const field = element.localName === "label" ? element.control : element;
  return field?.type === "file" ? field : null;
}"""

# Scroll the innermost box in the middle of the screen that can still move that way; say whether one could.
_SCROLL = """(to) => {
  const moves = (box) => {
    const before = box.scrollTop;
    const step = (to === "up" ? -0.9 : 0.9) * Math.min(box.clientHeight, innerHeight);
    const top = to === "top" ? 0 : to === "bottom" ? box.scrollHeight : before + step;
    box.scrollTo({ top, behavior: "instant" });
    return box.scrollTop !== before;
  };
  const isBox = (element) => /auto|scroll/.test(getComputedStyle(element).overflowY);
  for (let box = document.elementFromPoint(innerWidth / 2, innerHeight / 2); box; box = box.parentElement) {
    if (isBox(box) && moves(box)) return true;
  }
  return moves(document.scrollingElement ?? document.documentElement);
}"""

ElementGesture = Click | Type | Select | Check | Hover | Upload
PageGesture = Press | WaitFor | Scroll


async def do_with(element: ElementHandle, action: ElementGesture | Scroll, *, page: Page, allowance: Allowance) -> None:
    """Do a gesture with an element.

    Args:
        element: What it is done with.
        action: The gesture.
        page: The page with the keyboard.
        allowance: What may be uploaded and typed.

    Raises:
        ActionFailed: It is not possible with this element.
        PlaywrightError: The element did not become ready for it in time, or the page died.
    """
    match action:
        case Click():
            await _click(element)
        case Type():
            frame = await element.owner_frame()
            address = frame.url if frame else ""
            text = allowance.revealed(action.text, url=address)
            if text == action.text:
                await _type(element, action, page=page)
                return
            await _click(element)
            await type_secret(element, text, url=address)
            if action.submit:
                await page.keyboard.press("Enter")
        case Select():
            await _select(element, action)
        case Check():
            await element.set_checked(action.on, timeout=_MILLISECONDS)
        case Hover():
            await (await _box(element)).hover(timeout=_MILLISECONDS)
        case Upload():
            await _upload(element, allowance.file(action.path), page=page)
        case Scroll():
            await element.scroll_into_view_if_needed(timeout=_MILLISECONDS)


async def do_on(page: Page, action: PageGesture) -> None:
    """Do a gesture on the page as a whole.

    Raises:
        ActionFailed: It is not possible.
        PlaywrightError: It did not succeed in time, or the page died.
    """
    match action:
        case Press():
            await page.keyboard.press(action.key)
        case WaitFor():
            await _wait_for_text(page, action.text)
        case Scroll():
            if not await page.evaluate(_SCROLL, action.to):
                raise ActionFailed(f"The page does not scroll {_WAYS[action.to]}.")


_WAYS: dict[str, str] = {
    "up": "further up",
    "down": "further down",
    "top": "up: this is its top",
    "bottom": "down: this is its bottom",
}


def is_direction(to: str) -> bool:
    """Whether this is a way to scroll the page; else it is a reference."""
    return to in get_args(Direction)


async def _wait_for_text(page: Page, text: str) -> None:
    """Look for a text in every frame of the page, also in those that come meanwhile.

    Raises:
        ActionFailed: It does not appear in time.
    """
    deadline = asyncio.get_running_loop().time() + TEXT_SECONDS
    while asyncio.get_running_loop().time() < deadline and not page.is_closed():
        for frame in page.frames:
            # A frame may go meanwhile, or be stuck; of the page itself every later step would say so.
            with suppress(PlaywrightError, TimeoutError):
                async with asyncio.timeout(_FRAME_SECONDS):
                    if await frame.get_by_text(text).filter(visible=True).count():
                        return
        await asyncio.sleep(_LOOK_SECONDS)
    raise ActionFailed(f"The text {text!r} did not appear within {TEXT_SECONDS:g} seconds.")


async def _click(element: ElementHandle) -> None:
    presses = await element.evaluate_handle(_WATCH_PRESSES)
    # Else it would wait for the page that a link leads to, within the time for the click.
    await (await _box(element)).click(timeout=_MILLISECONDS, no_wait_after=True)
    # A page that is left, or stays busy, was clicked. Who reads it next waits as long for it.
    with suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(GESTURE_SECONDS):
            if await presses.evaluate(_WAS_MISSED):
                raise StaleReference("It was replaced when the pointer came near, so it was not clicked.")


async def _box(element: ElementHandle) -> ElementHandle:
    """Return the element, or the part of it that can be pointed at."""
    return (await element.evaluate_handle(_BOX)).as_element() or element


async def _type(element: ElementHandle, action: Type, *, page: Page) -> None:
    field = await element.evaluate(_FIELD)
    if field == "read-only":
        raise ActionFailed("It is read-only.")
    if field == "value":
        await _fill(element, action.text)
    else:
        await _click(element)  # a person's way to the focus, and the check that nothing covers it
        if not field and not await page.evaluate(_FOCUS_IS_EDITABLE):
            raise ActionFailed("It is no field to type into.")
        if field and not await element.evaluate(_HAS_FOCUS):
            raise ActionFailed("It does not keep the focus, so nothing was typed.")
        await page.keyboard.press("ControlOrMeta+a")
        await _strike(page, action.text, field=field)
    if action.submit:
        await page.keyboard.press("Enter")


async def _fill(element: ElementHandle, text: str) -> None:
    await element.fill(text, timeout=_MILLISECONDS)
    kind, value = await element.evaluate("(element) => [element.type, element.value]")
    if text and not value:
        raise ActionFailed(f"It does not take {text!r}: write it like {_WRITTEN[kind]}.")


_WRITTEN = {
    "date": "2024-05-31",
    "time": "18:30",
    "datetime-local": "2024-05-31T18:30",
    "month": "2024-05",
    "week": "2024-W22",
}


async def _strike(page: Page, text: str, *, field: str) -> None:
    if not text:
        await page.keyboard.press("Delete")
    elif len(text) > _MAX_KEY_STROKES:
        await page.keyboard.insert_text(text)
    elif field == "lines":
        await page.keyboard.type(text)
    else:
        # Enter would send the form, or the message. An editor has a key for a new line.
        for number, line in enumerate(text.splitlines()):
            if number:
                await page.keyboard.press("Shift+Enter" if field == "editor" else "Space")
            await page.keyboard.type(line)


async def _select(element: ElementHandle, action: Select) -> None:
    found = await element.evaluate(_OPTION, action.option)
    if "problem" in found:
        raise ActionFailed(f"It {found['problem']}.")
    await element.select_option(index=found["chosen"], timeout=_MILLISECONDS)


async def _upload(element: ElementHandle, path: Path, *, page: Page) -> None:
    field = (await element.evaluate_handle(_FILE_FIELD)).as_element()
    if field is not None:
        await field.set_input_files(path, timeout=_MILLISECONDS)
        return
    async with page.expect_file_chooser(timeout=_MILLISECONDS) as chosen:
        await _click(element)
    await (await chosen.value).set_files(path, timeout=_MILLISECONDS)
