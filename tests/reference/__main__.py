"""Writes the reference anew, from whatever folder it is started."""

from __future__ import annotations

from pathlib import Path

from tests.reference import pages

for name, text in pages().items():
    (Path(__file__).parents[2] / "docs" / "reference" / name).write_text(text, encoding="utf-8")
