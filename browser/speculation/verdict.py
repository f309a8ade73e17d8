"""Whether a page that was loaded ahead may be kept.

Invariant: only a page that a real load would have shown just so is kept; in doubt it is not.
"""

from __future__ import annotations

from browser.observation import Document, Readiness
from browser.speculation.freshness import varies
from browser.speculation.gate import address_refusal
from browser.speculation.interstitial import is_interstitial


def unkeepable(document: Document) -> str | None:
    """Say in a short, stable phrase why a page must not be kept; None if it may be."""
    if document.problem is not None:
        return "failed"
    if document.status is None or not 200 <= document.status < 300:
        return f"status-{document.status}"
    if document.readiness is Readiness.CAP:
        return "never-settled"
    if document.incidents:
        return "page-event"
    if varies(document.headers):
        return "varies"
    if document.unread_frames:
        return "foreign-frame"  # a real load reads it too
    if is_interstitial(document):
        return "interstitial"
    return address_refusal(document.url, page_url=document.requested_url)
