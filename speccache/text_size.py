"""How much a value holds, by the texts in it.

Invariant: runs no code but that of Python's own types, so that it never fails, and takes a few milliseconds at most.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from itertools import chain, islice
from typing import cast

_MAX_VALUES = 10_000
_VALUE_BYTES = 64
"""What a number, or anything that cannot be looked into, counts as."""


def text_size(value: object) -> int:
    """Return about how many bytes a value occupies: texts, and dicts and lists of them.

    10,000 values are looked at; those beyond them count as these do on average.
    """
    waiting: list[object] = [value]
    size_bytes = seen = 0
    count = 1
    while waiting and seen < _MAX_VALUES:
        each, seen = waiting.pop(), seen + 1
        kind = type(each)
        if kind is str or kind is bytes:
            size_bytes += sys.getsizeof(each)
            continue
        size_bytes += _VALUE_BYTES
        if kind is dict:
            pairs = cast("dict[object, object]", each)
            count += 2 * len(pairs)
            waiting += islice(chain.from_iterable(pairs.items()), _MAX_VALUES)
        elif kind in (list, tuple, set, frozenset):
            values = cast("Collection[object]", each)
            count += len(values)
            waiting += islice(values, _MAX_VALUES)
    return size_bytes * count // seen
