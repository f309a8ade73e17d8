"""Whether a page that was loaded may be kept, and for how long.

Invariant: only a page that a real load would have shown just so is kept; in doubt it is not.
"""

from __future__ import annotations

import time

from browser.observation import Document, Readiness
from browser.speculation.freshness import freshness, varies
from browser.speculation.gate import departure_refusal
from browser.speculation.interstitial import is_interstitial
from speccache.store import Lifetime


def unkeepable(document: Document) -> str | None:
    """Say in a short, stable phrase why a page that was loaded ahead must not be used; None if it may be.

    One that never settled may be: whoever waits for it would see no more of it after a load of his own. It is kept for
    nobody, see `lifetime`.
    """
    if document.problem is not None:
        return "failed"
    if document.status is None or not 200 <= document.status < 300:
        return f"status-{document.status}"
    if document.incidents:
        return "page-event"
    if varies(document.headers):
        return "varies"
    if document.unread_frames:
        return "foreign-frame"  # a real load reads it too
    if is_interstitial(document):
        return "interstitial"
    return departure_refusal(document.url, asked_url=document.requested_url)


def lifetime(document: Document) -> Lifetime:
    """Tell for how long a page may be used again: as its server says, within our own bounds."""
    failed = document.problem is not None or document.status is None or document.status >= 400
    if failed or is_interstitial(document) or document.readiness is Readiness.CAP or varies(document.headers):
        return Lifetime(max_age_seconds=0.0)  # the next look may find it whole
    return freshness(document.headers, now_seconds=time.time())
