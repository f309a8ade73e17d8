"""Reading what a model gave for a tool's parameters.

Invariant: whatever it is, the result is a value of the wanted kind that every later step can encode, or
`ModelUnreadable` says in words for the model what was wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from agent.errors import ModelUnreadable

Arguments = Mapping[str, object]

_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_WHOLE = re.compile(r"\d{1,4}")


def text(arguments: Arguments, name: str) -> str:
    """Read one argument; a number or a boolean is taken as it would be written.

    Raises:
        ModelUnreadable: It is missing, or a list or an object.
    """
    value = arguments.get(name)
    if not isinstance(value, str | int | float):
        raise ModelUnreadable(f"{name!r} is missing or is no text")
    return encodable(str(value)).strip()


def filled(arguments: Arguments, name: str) -> str:
    """Read one argument that must not be empty.

    Raises:
        ModelUnreadable: It is, or is missing.
    """
    found = text(arguments, name)
    if not found:
        raise ModelUnreadable(f"{name!r} is empty")
    return found


def flag(arguments: Arguments, name: str, *, default: bool) -> bool:
    """Read a yes or no, which small models write as a word; what is missing or neither is the default."""
    word = str(arguments.get(name, "")).strip().lower()
    return _WORDS.get(word, default)


def whole(arguments: Arguments, name: str) -> int:
    """Read a whole number of up to four digits.

    Raises:
        ModelUnreadable: It is none.
    """
    found = text(arguments, name)
    if not _WHOLE.fullmatch(found):
        raise ModelUnreadable(f"{name!r} is no whole number: {found[:40]!r}")
    return int(found)


def encodable(written: str) -> str:
    """Replace half surrogate pairs, which JSON can spell and no later step could encode."""
    return written.encode("utf-8", "replace").decode("utf-8")
