"""How long a page that was loaded ahead may stand for the page that would be loaded now.

Invariant: a page is never used beyond what its server declared fresh, except for the short window in which a
speculation is meant to be used, and never beyond our own cap. As in browsers, which use a prefetched page for minutes
whatever its headers say, the window holds for every page that may be kept at all. The terms are RFC 9111's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from speccache.store import Lifetime

# What differs between a page loaded ahead and one loaded for real, or may have changed by then. Every other request
# header is the same both times: one browser, one language, one set of cookies (their fingerprint is in the key).
_INCONSTANT = frozenset({"*", "sec-purpose", "purpose", "x-purpose", "x-moz", "downlink", "ect", "rtt"})

_DIRECTIVE = re.compile(r'([\w-]+)\s*(?:=\s*(?:"([^"]*)"|([^\s,"]*)))?')
_MAX_DELTA_SECONDS = 2.0**31  # RFC 9111, 1.2.2
_HEURISTIC_SHARE = 0.1  # RFC 9111, 4.2.2, of the time since the last change


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshnessLimits:
    """Our own bounds on what servers declare.

    Attributes:
        window_seconds: How long every page loaded ahead is usable: the time in which the guess may come true.
        min_heuristic_seconds: How long a page is usable at least whose server says nothing.
        max_seconds: How long any page is usable at most; browsers keep prefetched pages for 5 minutes.
    """

    window_seconds: float = 60.0
    min_heuristic_seconds: float = 60.0
    max_seconds: float = 300.0


_LIMITS = FreshnessLimits()


def freshness(headers: Mapping[str, str], *, now_seconds: float, limits: FreshnessLimits = _LIMITS) -> Lifetime:
    """Tell for what a page may be used.

    Args:
        headers: The headers of its main document, names in lower case, lines of one name joined by commas.
        now_seconds: The moment the answer came, in seconds since 1970; stands in for a missing `Date`.
        limits: Our own bounds.
    """
    directives = _directives(headers.get("cache-control", ""))
    if "no-store" in directives:
        return Lifetime(max_age_seconds=min(limits.window_seconds, limits.max_seconds), single_use=True)
    age_seconds = _delta_seconds(headers.get("age", "").partition(",")[0])
    remaining_seconds = _lifetime_seconds(directives, headers, now_seconds, limits) - age_seconds
    return Lifetime(max_age_seconds=min(max(remaining_seconds, limits.window_seconds), limits.max_seconds))


def varies(headers: Mapping[str, str]) -> bool:
    """Tell whether the page depends on more than the session and the address, so that it must not be kept.

    The session's own headers (`Accept-Language`, `User-Agent`, `Cookie`, …) do not count: they are the same when the
    page is loaded for real.
    """
    names = {name.strip().lower() for name in headers.get("vary", "").split(",")}
    return not names.isdisjoint(_INCONSTANT)


def http_date_seconds(value: str) -> float | None:
    """Return an HTTP date in seconds since 1970; None where it is none (RFC 9110, 5.6.7)."""
    try:
        moment = parsedate_to_datetime(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (IndexError, OverflowError, TypeError, ValueError):  # what the standard library's lenient parser lets out
        return None


def _lifetime_seconds(
    directives: Mapping[str, str], headers: Mapping[str, str], now_seconds: float, limits: FreshnessLimits
) -> float:
    """Return the freshness lifetime of RFC 9111, 4.2.1; 0 where the server wants to be asked again each time."""
    if "no-cache" in directives:
        return 0.0
    if "max-age" in directives:
        return _delta_seconds(directives["max-age"])
    answered_seconds = _date_seconds(headers, "date", default=now_seconds)
    if "expires" in headers:
        # No date, such as the common `0`, means: already stale (RFC 9111, 5.3).
        return _date_seconds(headers, "expires", default=answered_seconds) - answered_seconds
    if "must-revalidate" in directives:
        return 0.0
    unchanged_seconds = answered_seconds - _date_seconds(headers, "last-modified", default=answered_seconds)
    return min(max(_HEURISTIC_SHARE * unchanged_seconds, limits.min_heuristic_seconds), limits.max_seconds)


def _date_seconds(headers: Mapping[str, str], name: str, *, default: float) -> float:
    seconds = http_date_seconds(headers.get(name, ""))
    return default if seconds is None else seconds


def _directives(cache_control: str) -> dict[str, str]:
    """Split `Cache-Control`; of a directive given twice the first counts (RFC 9111, 4.2.1)."""
    directives: dict[str, str] = {}
    for name, quoted, plain in _DIRECTIVE.findall(cache_control):
        directives.setdefault(name.lower(), quoted or plain)
    return directives


def _delta_seconds(value: str) -> float:
    """Return a number of seconds; 0 where it is none, so that what cannot be read counts as stale."""
    value = value.strip()
    return min(float(value), _MAX_DELTA_SECONDS) if value.isascii() and value.isdigit() else 0.0
