"""Which pages may be kept for a later run, and for how long.

Invariant: a kept page is one that the server would let any browser answer from its cache, without asking, to a visitor
of whom it knows nothing. The short use of every page loaded ahead (`browser.speculation.freshness`) does not apply: a
later run is no part of the same visit.
"""

from __future__ import annotations

from browser.observation import Document, Observation, Readiness
from browser.speculation.freshness import FreshnessLimits, freshness, varies
from browser.speculation.gate import address_refusal

_DAY_SECONDS = 86_400.0

# What a script shows comes from answers whose headers nobody has read, so it is kept no longer than in memory.
_LIMITS = {
    Readiness.STATIC: FreshnessLimits(window_seconds=0.0, max_seconds=_DAY_SECONDS),
    Readiness.SETTLED: FreshnessLimits(window_seconds=0.0),
}


def shelf_seconds(observation: Observation, *, now_seconds: float) -> float:
    """Tell for how long an observation may be kept for later runs; 0: not at all.

    Whether it was made for a visitor without cookies is not to be seen from it; the caller has to know.

    Args:
        observation: What the page showed.
        now_seconds: The moment its answer came, in seconds since 1970.
    """
    document = observation.document
    limits = _LIMITS.get(document.readiness)
    if limits is None or observation.part != 1 or not _is_whole(document) or not _is_public(document):
        return 0.0
    lifetime = freshness(document.headers, now_seconds=now_seconds, limits=limits)
    return 0.0 if lifetime.single_use else lifetime.max_age_seconds or 0.0


def _is_whole(document: Document) -> bool:
    came = document.status is not None and 200 <= document.status < 300
    # What a search found is marked so for this run alone, whose user named the engine.
    is_found = any(link.found for link in document.links)
    return came and document.problem is None and not document.incidents and not is_found


def _is_public(document: Document) -> bool:
    # Every answer has a date, so one without is one whose headers are not known: a script led on to another page.
    if "date" not in document.headers or varies(document.headers) or _is_private(document.headers.get("cache-control")):
        return False
    # Addresses with credentials or tokens, and those with effects. Private hosts pass: the user has named them.
    return not any(address_refusal(url, page_url=url) for url in (document.requested_url, document.url))


def _is_private(cache_control: str | None) -> bool:
    names = {directive.partition("=")[0].strip().lower() for directive in (cache_control or "").split(",")}
    return "private" in names
