"""What of a document is shown at a time: one part of it, the passages found, or why an action could not be done.

Invariant: pure; the same document, part and length always show the same text.
"""

from __future__ import annotations

from dataclasses import replace

from browser.observation import Document, Observation
from browser.reading.parts import find, split_parts


def shown(document: Document, *, part: int = 1, part_chars: int) -> Observation:
    """Show one part of a document, the last where it has fewer; where there is no page to read, why."""
    if document.problem is not None:
        return Observation(document=document, text=document.problem)
    parts = split_parts(document.markdown, part_chars) or ("(The page has no visible text.)",)
    part = min(part, len(parts))
    return Observation(document=document, text=parts[part - 1], part=part, parts=len(parts))


def found(here: Observation, text: str, *, max_chars: int) -> Observation:
    """Show where a text occurs on the page."""
    passages = find(here.document.markdown, text, max_chars=max_chars)
    return replace(here, text=passages or f"The text {text!r} does not occur on this page.")


def unmoved(here: Observation | None, why: str) -> Observation:
    """Say, on the page stood on, why an action could not be done."""
    if here is not None:
        return replace(here, text=why)
    return Observation(document=Document(requested_url="", url="", problem=why), text=why)
