"""What kind of file something is, told from its name, its first bytes and what its server says.

Invariant: a kind that is said to be text can be decoded as text.
"""

from __future__ import annotations

import mimetypes
import re
from email.message import Message
from pathlib import Path

PDF = "application/pdf"
PLAIN = "text/plain"

_PDF_MARK = b"%PDF-"
_HEAD_BYTES = 1024  # readers of PDF look that far for the mark
_TELLS_NOTHING = re.compile(r"|(application|binary)/(octet-stream|x?-?(force-)?download|unknown)")
_TEXT = re.compile(
    r"text/.+|application/(.+\+)?(json|xml|yaml|toml|javascript|x-ndjson|x-yaml|x-sh|sql|csv|rtf)|image/svg\+xml"
)
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def media_type(file: Path, *, name: str, declared: str = "") -> str:
    """Name the kind of a file; empty where nothing tells it.

    Args:
        file: The file.
        name: Its name, as its server has it.
        declared: The server's `Content-Type`; empty where it is not known.
    """
    with file.open("rb") as stream:
        head = stream.read(_HEAD_BYTES)
    if _PDF_MARK in head:
        return PDF
    said = Message()
    said["content-type"] = declared
    kind = said.get_content_type() if declared else ""
    if _TELLS_NOTHING.fullmatch(kind):
        kind = mimetypes.guess_type(name)[0] or ""
    return kind or (PLAIN if _looks_like_text(head) else "")


def charset(declared: str) -> str | None:
    """Return the encoding that a `Content-Type` names."""
    said = Message()
    said["content-type"] = declared
    return said.get_content_charset()


def is_text(kind: str) -> bool:
    """Whether files of this kind are read as text."""
    return _TEXT.fullmatch(kind) is not None


def _looks_like_text(head: bytes) -> bool:
    return bool(head) and _CONTROLS.search(head) is None
