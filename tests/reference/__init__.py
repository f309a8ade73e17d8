"""The reference in `docs/reference`, written from the code: `python -m tests.reference`.

Invariant: nothing in it is written by hand, and nothing in it depends on the machine or the Python it was written with.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.reference.api import api_page
from tests.reference.command_line import command_line_page
from tests.reference.settings import settings_page

__all__ = ["pages"]


def pages() -> Mapping[str, str]:
    """The pages, by the names of their files."""
    return {"api.md": api_page(), "cli.md": command_line_page(), "settings.md": settings_page()}
