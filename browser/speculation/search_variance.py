"""Which parts of a query decide what page it names, as the server declares it in `No-Vary-Search`.

Invariant: two URLs share a key only where their page keys are equal, or where the server said that the difference of
their queries does not matter. A header that cannot be understood says nothing (draft-ietf-httpbis-no-vary-search).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urlencode

import http_sf

from browser.address import page_key


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchVariance:
    """How a page depends on its query; by default on every character of it.

    Attributes:
        ignored: Parameters that do not matter.
        only: The parameters that alone matter; None: all but the ignored ones.
        key_order: Whether the order of different parameters matters.
    """

    ignored: frozenset[str] = frozenset()
    only: frozenset[str] | None = None
    key_order: bool = True

    def key(self, url: str) -> str:
        """Name the page behind a URL: equal keys mean the same page. A key is its own key."""
        key = page_key(url)
        if self == DEFAULT:
            return key
        rest, hash_sign, fragment = key.partition("#")
        path, _, query = rest.partition("?")
        pairs = [pair for pair in parse_qsl(query, keep_blank_values=True) if self._matters(pair[0])]
        if not self.key_order:
            pairs.sort(key=lambda pair: pair[0])  # stable: the values of one parameter keep their order
        return path + (f"?{urlencode(pairs)}" if pairs else "") + hash_sign + fragment

    def _matters(self, name: str) -> bool:
        return name not in self.ignored if self.only is None else name in self.only


DEFAULT = SearchVariance()


def parse(header: str) -> SearchVariance:
    """Read a `No-Vary-Search` header; never raises."""
    try:
        fields: Any = http_sf.parse(header.encode("ascii"), tltype="dictionary")
        return _variance({name: _bare(member) for name, member in fields.items()})
    except (TypeError, ValueError):
        # Not a structured field, or not one the draft knows: the draft wants both passed over.
        return DEFAULT


def _bare(member: Any) -> Any:
    """Take a member's own parameters off, which mean nothing here."""
    return member[0] if isinstance(member, tuple) else member


def _variance(fields: Mapping[str, Any]) -> SearchVariance:
    """Apply the draft's "parse a URL search variance".

    Raises:
        TypeError: A field is of another kind than in the draft.
        ValueError: The fields contradict each other.
    """
    key_order, params = fields.get("key-order", False), fields.get("params", False)
    if not isinstance(key_order, bool):
        raise TypeError("key-order is no boolean")
    if "except" in fields:
        if params is not True:
            raise ValueError("except without params")
        return SearchVariance(only=_names(fields["except"]), key_order=not key_order)
    if isinstance(params, bool):
        return SearchVariance(only=frozenset() if params else None, key_order=not key_order)
    return SearchVariance(ignored=_names(params), key_order=not key_order)


def _names(member: Any) -> frozenset[str]:
    """Read a list of parameter names, percent-encoded as in a query.

    Raises:
        TypeError: It is no list of strings.
    """
    if not isinstance(member, list):
        raise TypeError("not a list")
    return frozenset(unquote_plus(_text(item), errors="replace") for item in member)


def _text(item: Any) -> str:
    name = _bare(item)
    if not isinstance(name, str):  # a token is none
        raise TypeError("not a string")
    return name
