"""Colours of the charts: Paul Tol's "vibrant" scheme, which stays distinct for colour-blind eyes.

Invariant: each colour is a variable of the page's style, which has another value for it by night.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

INK, QUIET, LINE = "#1d2126", "#5c646d", "#e3e3df"
RED, TEAL, BLUE, PURPLE, ORANGE, GREY, PALE = (
    "#cc3311",
    "#007d6f",
    "#0077bb",
    "#aa3377",
    "#d9661f",
    "#8b939c",
    "#c3c9cf",
)
_MODES = {
    "off": RED,
    "lru": GREY,
    "random": ORANGE,
    "rank": BLUE,
    "draft": PURPLE,
    "spec": TEAL,
    "oracle": INK,
}
_VARIABLES = {
    INK: "ink",
    QUIET: "quiet",
    LINE: "line",
    RED: "red",
    TEAL: "teal",
    BLUE: "blue",
    PURPLE: "purple",
    ORANGE: "orange",
    GREY: "grey",
    PALE: "pale",
}


def mode_colour(mode: str) -> str:
    """Return the colour that a mode has in every chart."""
    return _MODES.get(mode, GREY)


def predictor_colours(names: Sequence[str]) -> dict[str, str]:
    """Return a colour for each predictor: that of the mode of its name, else one that no other of them has."""
    taken = {_MODES[name] for name in names if name in _MODES}
    free = cycle([colour for colour in (TEAL, ORANGE, GREY, PURPLE, BLUE) if colour not in taken] or [PALE])
    return {name: _MODES.get(name) or next(free) for name in names}


def as_variables(svg: str) -> str:
    """Replace the colours in a drawing by the page's variables."""
    for colour, name in _VARIABLES.items():
        svg = svg.replace(colour, f"var(--{name})")
    return svg
