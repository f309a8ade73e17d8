"""The text of a PDF: a program of its own, since reading a hostile file may take all the time and memory there is.

Usage: `python pdf_text.py FILE OUT MAX_PAGES MAX_CHARACTERS`. It imports nothing of this project.

Invariant: what it has found is in OUT whenever it is stopped, a JSON object a line: first the number of `pages` and the
`title`, then the `text` of each page, at last that it came to the `end`; a single one with a `problem` where it cannot
read the file at all.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from typing import Any, TextIO

from pypdf import PdfReader
from pypdf.errors import PyPdfError

_MAX_MEMORY_BYTES = 1 << 30
# What the package lets through where a file does not keep to the format.
_DAMAGE = (PyPdfError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def main(file: str, out: str, max_pages: int, max_characters: int) -> None:
    """Read FILE, and write down what is found."""
    _limit_memory()
    with open(out, "w", encoding="utf-8", errors="replace") as lines:  # noqa: PTH123 - no other module, however small
        try:
            reader = PdfReader(file)
            if reader.is_encrypted and not reader.decrypt(""):
                _write(lines, problem="is encrypted, and needs a password")
                return
            count = len(reader.pages)
        except _DAMAGE:
            _write(lines, problem="is damaged")
            return
        _write(lines, pages=count, title=_title(reader))
        _write_pages(lines, reader, min(count, max_pages), max_characters)


def _write_pages(lines: TextIO, reader: PdfReader, count: int, max_characters: int) -> None:
    for number in range(count):
        try:
            text = reader.pages[number].extract_text()
        except _DAMAGE:
            text = None
        _write(lines, text=text)
        max_characters -= len(text or "")
        if max_characters < 0:
            return
    _write(lines, end=True)


def _title(reader: PdfReader) -> str:
    with suppress(*_DAMAGE):
        return str((reader.metadata and reader.metadata.title) or "")
    return ""


def _write(lines: TextIO, **found: Any) -> None:
    lines.write(json.dumps(found, ensure_ascii=False) + "\n")
    lines.flush()


def _limit_memory() -> None:
    with suppress(ImportError, OSError, ValueError):  # not every system can
        import resource  # noqa: PLC0415 - POSIX only

        resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
