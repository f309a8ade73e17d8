"""What a reader of web pages can do.

Invariant: an action is a plain value; what it means depends only on the page it is taken from, and
`browser.environment` alone resolves it. Interaction with controls (click, type, select) will join this union.
"""

from __future__ import annotations

from dataclasses import dataclass


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


Action = Visit | Back | More | Find
