"""Charts as SVG inside a page: its fonts, its colours by day and by night, and tips on what they show.

Invariant: a chart refers to nothing outside itself, and its ids are its own, so that many fit on one page.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from evals.report.palette import INK, LINE, QUIET, as_variables

if TYPE_CHECKING:
    from matplotlib.artist import Artist

_WIDE_INCHES, _NARROW_INCHES = 14.4, 7.0
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "chart",
    "text.parse_math": False,
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": QUIET,
    "axes.edgecolor": LINE,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "grid.color": LINE,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_FONT = re.compile(r"font-family: [^;\"]*;? ?")
_REFERENCE = re.compile(r"(?<=url\(#)[^)]+|(?<=^#).+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One chart of the page.

    Attributes:
        name: Unique on the page.
        title: What it shows.
        caption: How to read it.
        svg: The drawing.
        is_wide: Whether it takes the whole width.
    """

    name: str
    title: str
    caption: str
    svg: str
    is_wide: bool


@contextmanager
def drawing() -> Iterator[None]:
    """Draw with the page's look while a block runs."""
    import matplotlib as mpl  # noqa: PLC0415 - slow to import, and only pages with charts need it

    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # The reader's browser has its own fonts; that this machine lacks a letter does not matter.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


class Canvas:
    """A chart under way; use it inside `drawing()`."""

    def __init__(self, *, is_wide: bool = False, height_inches: float = 3.4) -> None:
        from matplotlib.figure import Figure  # noqa: PLC0415 - as above

        self.is_wide = is_wide
        width_inches = _WIDE_INCHES if is_wide else _NARROW_INCHES
        # A figure made without pyplot needs no display.
        self._figure = Figure(figsize=(width_inches, height_inches), layout="constrained")
        self.axes = self._figure.subplots()
        self.axes.set_axisbelow(True)
        self._tips: dict[str, str] = {}

    def tip(self, artist: Artist, text: str) -> None:
        """Let what was drawn say a text when it is pointed at."""
        name = f"tip{len(self._tips)}"
        artist.set_gid(name)
        self._tips[name] = text

    def chart(self, name: str, *, title: str, caption: str, says: str) -> Chart:
        """Finish the chart; `says` tells in words what is seen, for who does not see it."""
        with io.StringIO() as file:
            self._figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
            # Matplotlib wrote it, and escaped what it was given.
            root = ElementTree.fromstring(file.getvalue())  # noqa: S314
        _settle(root, prefix=name, tips=self._tips)
        view = root.get("viewBox", "")
        root.attrib.clear()
        root.attrib.update({"viewBox": view, "role": "img", "aria-label": f"{title}. {says}"})
        text = _FONT.sub("", ElementTree.tostring(root, encoding="unicode"))
        return Chart(name=name, title=title, caption=caption, svg=as_variables(text), is_wide=self.is_wide)


def _settle(root: ElementTree.Element, *, prefix: str, tips: dict[str, str]) -> None:
    """Leave out what a page's own SVG does not need, and keep only ids that are referred to."""
    for parent in root.iter():
        for child in list(parent):
            if child.tag.endswith(("}metadata", "}style")):
                parent.remove(child)
    used = {name for each in root.iter() for value in each.attrib.values() for name in _REFERENCE.findall(value)}
    for each in root.iter():
        each.tag = each.tag.rpartition("}")[2]
        each.attrib.update({name: _REFERENCE.sub(rf"{prefix}-\g<0>", value) for name, value in each.attrib.items()})
        for name in [name for name in each.attrib if name.startswith("{")]:
            each.attrib[name.rpartition("}")[2]] = each.attrib.pop(name)
        own = each.attrib.pop("id", "")
        if own in used:
            each.set("id", f"{prefix}-{own}")
        if own in tips:
            title = ElementTree.Element("title")
            title.text = tips[own]
            each.insert(0, title)
