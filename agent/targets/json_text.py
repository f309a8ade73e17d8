"""JSON in a model's words: objects that stand somewhere in a text, in a fence or among sentences.

Invariant: whatever the text holds, finding them ends, and gives objects only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

_MAX_OBJECTS = 50
"""How many opening braces are tried: each try may read the whole rest of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An object, and the words before it."""

    value: dict[str, object]
    before: str


def objects(text: str) -> Iterator[Found]:
    """Yield the objects that begin somewhere in a text, those inside others too."""
    start = -1
    for _ in range(_MAX_OBJECTS):
        start = text.find("{", start + 1)
        if start < 0:
            return
        value = whole_object(text[start:])
        if value is not None:
            yield Found(value=value, before=text[:start].strip().removesuffix("```json").removesuffix("```"))


def whole_object(text: str) -> dict[str, object] | None:
    """Read the object a text begins with; None where there is none."""
    try:
        value, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):  # broken, too deep, or a number of too many digits
        return None
    return value if isinstance(value, dict) else None
