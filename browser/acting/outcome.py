"""What comes of an action on a page, and how an agent is told.

Invariant: an action that did nothing never looks like one that did: its failure, or that nothing changed, is the first
thing said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from playwright.async_api import Page

from browser.observation import Document, Observation, PageEvent

_NUMBER = re.compile(r"\]\[c?\d+\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of an action.

    Attributes:
        page: The page to go on from: another one where a tab was opened, closed or chosen.
        document: What it shows now.
        moved: Whether that is another page than before: another tab or another address.
        file: The text of a file that the action was answered with; None where there was none.
        events: What happened.
        failure: Why the action could not be done, in a sentence; None where it was done.
        origins: Origins that were sent something.
        expects_change: Whether it is worth saying that nothing changed.
    """

    page: Page
    document: Document
    moved: bool
    file: Document | None = None
    events: tuple[PageEvent, ...] = ()
    failure: str | None = None
    origins: frozenset[str] = frozenset()
    expects_change: bool = True


def told(outcome: Outcome, seen: Observation, *, before: Observation) -> Observation:
    """Put what happened in front of the page as it is now."""
    came = outcome.file and outcome.file.download  # is told with its text
    lines = [event.text for event in outcome.events if came is None or event.download != came]
    if outcome.failure is not None:
        lines.insert(0, outcome.failure)
    elif not (lines or came or outcome.moved) and outcome.expects_change and _are_same(seen.document, before.document):
        lines = ["Nothing on the page changed."]
    return _led_by(lines, seen, outcome)


def told_of_file(outcome: Outcome, seen: Observation) -> Observation:
    """Put what happened in front of the text of the file that came."""
    return _led_by([event.text for event in outcome.events], seen, outcome)


def _led_by(lines: Sequence[str], seen: Observation, outcome: Outcome) -> Observation:
    text = "\n\n".join(["\n".join(lines), seen.text]) if lines else seen.text
    return replace(seen, text=text, events=outcome.events)


def _are_same(one: Document, other: Document) -> bool:
    """Whether two readings of a page say the same; elements made anew have other numbers."""
    return one.markdown == other.markdown or _NUMBER.sub("]", one.markdown) == _NUMBER.sub("]", other.markdown)
