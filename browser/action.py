"""What an agent can do on the web: reading, which only looks, and interaction, which may change the page or the site.

Invariant: an action is a plain value; what it means depends only on the page it is taken from, and
`browser.environment` alone resolves it. An interaction has effects, so it is never run ahead.

A *reference* names what the last observation shows: `"c3"` for `[button "Save"][c3]`, `"12"` for the link
`[text][12]`; the brackets may stand round it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Direction = Literal["up", "down", "top", "bottom"]


@dataclass(frozen=True, slots=True)
class Visit:
    """Follow a link of the current page, or go to a URL.

    Attributes:
        target: A link number (`"12"` or `"[12]"`), the link's text where it is unique on the page, or a URL
            (absolute, or relative to the current page).
    """

    target: str

    def __str__(self) -> str:
        return f"visit {self.target}"


@dataclass(frozen=True, slots=True)
class Back:
    """Return to the page visited before this one."""

    def __str__(self) -> str:
        return "back"


@dataclass(frozen=True, slots=True)
class Forward:
    """Return to the page that the last `Back` left."""

    def __str__(self) -> str:
        return "forward"


@dataclass(frozen=True, slots=True)
class More:
    """Read the next part of a page that is too long for one observation."""

    def __str__(self) -> str:
        return "more"


@dataclass(frozen=True, slots=True)
class Find:
    """Show where a text occurs on the current page, in any of its parts.

    Attributes:
        text: What to look for; case and runs of white space do not matter.
    """

    text: str

    def __str__(self) -> str:
        return f"find {self.text!r}"


@dataclass(frozen=True, slots=True)
class Search:
    """Ask the search engine that the user named.

    Attributes:
        query: What to search for; runs of white space do not matter.
    """

    query: str

    def __str__(self) -> str:
        return f"search {self.query!r}"


@dataclass(frozen=True, slots=True)
class Click:
    """Click a control or a link.

    Attributes:
        reference: What to click.
        accept: Whether a question the page asks then (a `confirm` dialog) is answered with yes; else with no.
    """

    reference: str
    accept: bool = False

    def __str__(self) -> str:
        return f"click {self.reference}{' and accept' if self.accept else ''}"


@dataclass(frozen=True, slots=True)
class Type:
    """Write into a field with real key strokes, in place of what it holds.

    Attributes:
        reference: The field.
        text: What to write; empty clears the field.
        submit: Whether Enter is pressed afterwards.
    """

    reference: str
    text: str
    submit: bool = False

    def __str__(self) -> str:
        return f"type {self.text!r} into {self.reference}{' and submit' if self.submit else ''}"


@dataclass(frozen=True, slots=True)
class Press:
    """Press a key, or several together, where the focus is.

    Attributes:
        key: A name of the DOM's `KeyboardEvent.key`, such as `Enter`, `Escape`, `ArrowDown`, `a`, `Control+a`.
    """

    key: str

    def __str__(self) -> str:
        return f"press {self.key}"


@dataclass(frozen=True, slots=True)
class Select:
    """Choose an option of a list.

    In a list of several choices it is added to them, or taken out where it is chosen already.

    Attributes:
        reference: The list.
        option: The option's label, as shown.
    """

    reference: str
    option: str

    def __str__(self) -> str:
        return f"select {self.option!r} in {self.reference}"


@dataclass(frozen=True, slots=True)
class Check:
    """Set a check box, radio button or switch.

    Attributes:
        reference: The box.
        on: Whether it is to be on.
    """

    reference: str
    on: bool = True

    def __str__(self) -> str:
        return f"{'check' if self.on else 'uncheck'} {self.reference}"


@dataclass(frozen=True, slots=True)
class Hover:
    """Move the mouse pointer over a control or a link."""

    reference: str

    def __str__(self) -> str:
        return f"hover over {self.reference}"


@dataclass(frozen=True, slots=True)
class Scroll:
    """Scroll the page by most of a screen or to its end, or bring a control or a link into view.

    Attributes:
        to: A `Direction`, or a reference.
    """

    to: str

    def __str__(self) -> str:
        return f"scroll {self.to}"


@dataclass(frozen=True, slots=True)
class Upload:
    """Choose a file in a file field, or in the dialog that a button opens.

    Attributes:
        reference: The field or the button.
        path: One of the files that the user allowed: its path, or its name.
    """

    reference: str
    path: str

    def __str__(self) -> str:
        return f"upload {self.path} with {self.reference}"


@dataclass(frozen=True, slots=True)
class WaitFor:
    """Wait until a text is on the page."""

    text: str

    def __str__(self) -> str:
        return f"wait for {self.text!r}"


@dataclass(frozen=True, slots=True)
class SwitchTab:
    """Go to another open tab.

    Attributes:
        number: Which one, from 1, in the order they were opened.
    """

    number: int

    def __str__(self) -> str:
        return f"switch to tab {self.number}"


Reading = Visit | Back | Forward | More | Find | Search
Looking = Hover | Scroll | WaitFor | SwitchTab  # may move or show something, but sends and changes nothing by itself
Interaction = Click | Type | Press | Select | Check | Upload | Looking
Action = Reading | Interaction
