"""What comes of an action on a page, and how an agent is told.

Invariant: an action that did nothing never looks like one that did: its failure, or that nothing changed, is the first
thing said.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from playwright.async_api import Page

from browser.observation import Document, Observation, PageEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of an action.

    Attributes:
        page: The page to go on from: another one where a tab was opened, closed or chosen.
        document: What it shows now.
        moved: Whether that is another page than before: another tab or another address.
        events: What happened.
        failure: Why the action could not be done, in a sentence; None where it was done.
        origins: Origins that were sent something.
    """

    page: Page
    document: Document
    moved: bool
    events: tuple[PageEvent, ...] = ()
    failure: str | None = None
    origins: frozenset[str] = frozenset()


def told(outcome: Outcome, seen: Observation, *, before: Observation) -> Observation:
    """Put what happened in front of the page as it is now."""
    lines = [event.text for event in outcome.events]
    if outcome.failure is not None:
        lines.insert(0, outcome.failure)
    elif not lines and not outcome.moved and seen.document.markdown == before.document.markdown:
        lines = ["Nothing on the page changed."]
    return replace(seen, text="\n\n".join(["\n".join(lines), seen.text]) if lines else seen.text, events=outcome.events)
