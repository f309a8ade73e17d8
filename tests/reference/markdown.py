"""Texts of the code as markdown."""

from __future__ import annotations

from collections.abc import Iterable

WRITTEN_BY = "<!-- Written by `python -m tests.reference` from the code; changes belong there. -->"


def cell(text: str) -> str:
    """A text as it may stand in a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;") or " "


def code(text: str) -> str:
    """A text as code in a table; nothing for none."""
    return f"`{' '.join(text.split())}`".replace("|", "\\|") if text else ""


def table(*titles: str, rows: Iterable[tuple[str, ...]]) -> str:
    """A table; its cells are markdown already."""
    lines = [titles, ("---",) * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
