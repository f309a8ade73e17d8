"""What runs inside pages: scripts in JavaScript, put together from their parts.

Invariant: a script's parts come in an order in which each finds those before it that it is made of.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

_READER_PARTS = (
    "text",
    "blocks",
    "generated",
    "walk",
    "names",
    "numbers",
    "links",
    "controls",
    "rows",
    "tables",
    "frames",
    "code",
    "math",
    "elements",
    "snapshot",
)
_READINESS_PARTS = (
    "activity",
    "requests",
    "streams",
    "callbacks",
    "timers",
    "address",
    "resources",
    "sources",
    "changes",
    "fullness",
    "effects",
    "verdict",
)


def script(name: str) -> str:
    """Return the text of a script in this package, such as `sight` or `reader/links`."""
    return files("browser.reading").joinpath(f"{name}.js").read_text(encoding="utf-8")


def _joined(whole: str, parts: tuple[str, ...]) -> str:
    """Return a function of one argument, which hands it and its parts to the whole."""
    texts = ",\n".join(script(f"{whole}/{part}") for part in parts)
    return f"(argument) => (\n{script(whole)})(argument, [\n{texts}])"


READER: Final = _joined("reader", _READER_PARTS)
"""Reads the page: a function of the limits, for `evaluate`."""

_READINESS = f"({_joined('readiness', _READINESS_PARTS)})();"

INIT_SCRIPT: Final = "\n".join(
    (script("listeners"), script("lists"), _READINESS, script("references"), script("sight"))
)
"""Every context whose pages are read needs it: `context.add_init_script(INIT_SCRIPT)`."""
