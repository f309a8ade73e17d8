"""How much a value holds, by the texts in it.

Invariant: runs no code but that of Python's own types, so that it never fails, and takes a few milliseconds at most.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

_MAX_VALUES = 10_000
_VALUE_BYTES = 64
"""What a number, or anything that cannot be looked into, counts as."""


def text_size(value: object) -> int:
    """Return about how many bytes a value occupies: texts, and dicts and lists of them; of 10,000 values at most."""
    waiting: list[object] = [value]
    size_bytes = count = 0
    while waiting and count < _MAX_VALUES:
        each, count = waiting.pop(), count + 1
        kind = type(each)
        if kind is str or kind is bytes:
            size_bytes += sys.getsizeof(each)
            continue
        size_bytes += _VALUE_BYTES
        waiting += _inside(each)
    return size_bytes


def _inside(value: object) -> Iterable[object]:
    if type(value) is dict:
        return [*value.keys(), *value.values()]
    return value if type(value) in (list, tuple, set, frozenset) and isinstance(value, Iterable) else ()
