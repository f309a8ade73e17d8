"""A file that is written whole or not at all.

Invariant: under its name stands what stood there before, or all of what was to be written, whatever ends the writing.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

UNFINISHED = ".part"
"""What the name of a file ends with while it is being written."""


def write_whole(path: Path, text: str) -> None:
    """Write a text in UTF-8; half a surrogate pair, which a page may hold, as the JSON escape that it is.

    Raises:
        OSError: It cannot be written; nothing is left of it.
    """
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        with unfinished.open("w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())  # else the name may reach the disk before the text does
        unfinished.replace(path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise
