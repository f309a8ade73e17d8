"""One action on a live page: find the element, do it, wait for what comes of it, read the page again.

Invariant: an action is done once or not at all, and what is handed back is the page as it is afterwards, with all that
happened meanwhile. An action that cannot be done is an outcome with a `failure`, not an error.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from browser.acting.allowance import Allowance
from browser.acting.effects import effects_on, watch_effects
from browser.acting.event_watch import EventWatch
from browser.acting.gesture import ElementGesture, do_on, do_with, is_direction
from browser.acting.outcome import Outcome
from browser.acting.reference import carry_over, find_element, parse
from browser.acting.reference import describe as name_of
from browser.action import Click, Interaction, Press, Scroll, SwitchTab, Type, WaitFor
from browser.downloads.announcement import announce_action
from browser.downloads.watch import Downloads
from browser.errors import ActionFailed, SlotCrashed, StaleReference
from browser.observation import Document
from browser.page import read_again
from browser.reading.failure import describe, is_dead
from browser.reading.load_options import LoadOptions

_ACT_SECONDS = 30.0  # for a gesture as a whole, whatever the page does to it
_CLOSE_SECONDS = 2.0
_OFFER_SECONDS = 10.0  # for a file that was asked for to begin to come

_COVERED = re.compile(r"- +(<.+>)(?: from (<.+>) subtree)? intercepts pointer events")
_WHOLE_PAGE = re.compile(r"<(body|html)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The page stood on, as the agent knows it and as it is.

    Attributes:
        page: The live page.
        shown: The document the agent was shown; its numbers are what references mean.
        live: Every open page as it was last read. That of `page` is another document than `shown` where the agent was
            shown one that had been loaded ahead.
        downloads: What takes files in that come of the action.
    """

    page: Page
    shown: Document
    live: Mapping[Page, Document]
    downloads: Downloads


async def act(standing: Standing, action: Interaction, *, options: LoadOptions, allowance: Allowance) -> Outcome:
    """Do one action.

    Args:
        standing: Where it is done.
        action: What is done.
        options: Limits of the wait and of the reading.
        allowance: What may be uploaded and typed.

    Cancellation: it may or may not have been done; the page is to be loaded again.

    Raises:
        SlotCrashed: The page or its browser died; whether the action was done is not known.
    """
    page = standing.page
    accept = isinstance(action, Click) and action.accept
    try:
        async with EventWatch(page, accept=accept, options=options, downloads=standing.downloads) as watch:
            failure = await _try(standing, action, allowance=allowance)
            await _let_go(page)
            if failure is None and not watch.navigating:
                effects = await effects_on(page)
                failure = effects.invalid if _may_send(action) else None
                await standing.downloads.begun(effects.files, seconds=_OFFER_SECONDS)
            opened = await watch.followed()
            after = opened or _page_to_read(page, action)
            try:
                document = await _settled(after, watch, live=standing.live, options=options)
            except SlotCrashed:
                if not watch.has_closed_again(after):
                    raise
                after = page
                document = await _settled(page, watch, live=standing.live, options=options)
            file = await watch.file()
    except (PlaywrightError, TimeoutError) as error:
        raise SlotCrashed(f"the browser's page died while this was done on it: {action}") from error
    return Outcome(
        page=after,
        document=document,
        moved=after is not page or document.url != standing.shown.url,
        file=file,
        events=tuple(watch.events),
        failure=failure,
        origins=frozenset(watch.origins),
        expects_change=not isinstance(action, WaitFor),
    )


async def _try(standing: Standing, action: Interaction, *, allowance: Allowance) -> str | None:
    """Do the gesture; say why where it could not be done."""
    page = standing.page
    try:
        async with asyncio.timeout(_ACT_SECONDS):
            await announce_action(page)
            await watch_effects(page)
            match action:
                case SwitchTab():
                    _tab(page, action.number)
                case Press() | WaitFor():
                    await do_on(page, action)
                case Scroll() if is_direction(action.to):
                    await do_on(page, action)
                case _:
                    await _with_element(standing, action, allowance=allowance)
    except ActionFailed as failed:
        return str(failed)
    except TimeoutError:
        return f"This was given up after {_ACT_SECONDS:g} seconds: {action}."
    except PlaywrightError as error:
        if page.is_closed():
            return None  # that is what the action did
        if is_dead(error.message):
            raise
        return _why_not(error.message, action)
    return None


async def _with_element(standing: Standing, action: ElementGesture | Scroll, *, allowance: Allowance) -> None:
    page, live = standing.page, standing.live[standing.page]
    reference = parse(action.to if isinstance(action, Scroll) else action.reference)
    name = name_of(reference, standing.shown)
    if live is not standing.shown:
        reference = carry_over(reference, shown=standing.shown, live=live)
    element = await find_element(page, reference, name=name)
    try:
        await do_with(element, action, page=page, allowance=allowance)
    except ActionFailed as failed:
        raise ActionFailed(f"{name}: {failed}") from failed
    except PlaywrightError as error:
        if page.is_closed() or is_dead(error.message):
            raise
        raise _element_failed(error.message, name=name) from error
    finally:
        with suppress(PlaywrightError):
            await element.dispose()


def _may_send(action: Interaction) -> bool:
    return isinstance(action, Click | Press) or (isinstance(action, Type) and action.submit)


async def _let_go(page: Page) -> None:
    """Begin to wait for what a gesture sets off; a page that it closed is gone afterwards."""
    await announce_action(page)
    with suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(_CLOSE_SECONDS):
            if await page.evaluate("window.closed") and not page.is_closed():
                await page.wait_for_event("close")


def _tab(page: Page, number: int) -> Page:
    pages = page.context.pages
    if not 1 <= number <= len(pages):
        tabs = "; ".join(f"{place}: {tab.url}" for place, tab in enumerate(pages, 1))
        raise ActionFailed(f"There is no tab {number}. Open are {tabs}")
    return pages[number - 1]


def _page_to_read(page: Page, action: Interaction) -> Page:
    """Return the tab that was chosen, or this one; the last one where it has closed itself."""
    with suppress(ActionFailed):
        if isinstance(action, SwitchTab):
            return _tab(page, action.number)
    return page.context.pages[-1] if page.is_closed() and page.context.pages else page


async def _settled(page: Page, watch: EventWatch, *, live: Mapping[Page, Document], options: LoadOptions) -> Document:
    """Read the page once what the action set off is over."""
    numbered = live.get(page)
    # While a document is on its way the browser answers nothing that is asked of the page.
    await watch.arrived()
    document = await read_again(page, options=options, numbered=numbered)
    if watch.navigating:
        await watch.arrived()
        document = await read_again(page, options=options, numbered=numbered)
    failed = watch.failed
    if failed is not None and page.url.startswith("chrome-error:"):
        seconds = options.navigate_timeout_seconds
        problem = describe(failed.failure or "", url=failed.url, timeout_seconds=seconds)
        return Document(requested_url=failed.url, url=failed.url, problem=problem)
    return document


def _element_failed(message: str, *, name: str) -> ActionFailed:
    """Say what kept the browser from using an element, from the log of its tries."""
    covered = list(_COVERED.finditer(message))
    if covered:
        return _covered(*covered[-1].groups(), name=name)
    if "not attached" in message or "detached" in message:
        return StaleReference(f"{name} is stale: it went from the page while it was used.")
    if "performing" in message:
        return ActionFailed(f"{name} was used, but the page is busy with it: look whether it had an effect.")
    for sign, state in _STATES.items():
        if sign in message:
            return ActionFailed(f"{name} {state}, so it was left alone.")
    return ActionFailed(f"{name}: {_plain(message)}")


def _covered(part: str, whole: str | None, *, name: str) -> ActionFailed:
    if _WHOLE_PAGE.match(part):
        return ActionFailed(f"{name} lets the pointer through to what lies behind it, so it was left alone.")
    cover = f"{whole}, with {part} on top" if whole else part
    return ActionFailed(f"{name} is covered by {cover}, so it was left alone. Deal with what covers it first.")


_STATES = {
    "element is not enabled": "is disabled",
    "element is not editable": "is read-only",
    "element is not visible": "is not visible",
    "element is not stable": "does not stop moving",
    "outside of the viewport": "cannot be brought into view",
    "filechooser": "opens no dialog to choose a file",
    "did not change its state": "did not change",
    "Not a checkbox": "is nothing to check",
}


def _why_not(message: str, action: Interaction) -> str:
    return f"This could not be done: {action}. {_plain(message)}"


def _plain(message: str) -> str:
    """The first line of an error of the browser's driver, less the name of its function."""
    return re.sub(r"^\w+\.\w+: ", "", message.partition("\n")[0])
