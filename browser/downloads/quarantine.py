"""Where files that pages gave are put.

Invariant: a file lies in this folder and nowhere else, under a name of its own that no other program gives a meaning,
and may not be executed.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import tempfile
from itertools import count
from pathlib import Path, PurePosixPath
from secrets import token_hex
from types import TracebackType

from browser.errors import BrowserError

_PREFIX = "speccache-files-"
_MAX_STEM = 50  # characters have up to four bytes, and file systems allow 255
_MAX_SUFFIX = 12
_ODD = re.compile(r"[^\w\-. ()]+")
# Names that are devices on Windows, whatever their suffix.
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


class Quarantine:
    """A folder for files that pages gave.

    Use it as `async with Quarantine() as quarantine:`.

    Args:
        kept: The user's own folder, where they stay; None: a temporary one, which goes when this is left.
        parent: Where the temporary one is made; None: the system's folder for temporary files.

    Resource handling: owns the temporary folder and all that is in it.

    Raises:
        BrowserError: On entering: the folder cannot be made.
    """

    def __init__(self, kept: Path | None = None, *, parent: Path | None = None) -> None:
        self._kept = kept
        self._parent = parent
        self._temporary: Path | None = None

    async def __aenter__(self) -> Quarantine:
        try:
            await asyncio.to_thread(self._make)
        except OSError as error:
            raise BrowserError(
                f"the folder for downloads cannot be made: {error}", hint="Name a folder that you may write to."
            ) from error
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        temporary, self._temporary = self._temporary, None
        if temporary is not None:
            await asyncio.to_thread(shutil.rmtree, temporary, ignore_errors=True)

    def _make(self) -> None:
        if self._kept is not None:
            self._kept.mkdir(parents=True, exist_ok=True)
        else:
            self._temporary = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=self._parent))

    @property
    def folder(self) -> Path:
        """Where the files are."""
        folder = self._kept or self._temporary
        if folder is None:
            raise BrowserError("the quarantine is not open", hint="Use it as `async with Quarantine() as quarantine:`.")
        return folder

    def place_for_arrival(self) -> Path:
        """Name a file that is not there, for one on its way here from another machine."""
        return self.folder / f".{token_hex(8)}.part"

    def admit(self, file: Path, name: str) -> Path:
        """Move a file here under a safe form of its name; this call touches the disk.

        Raises:
            OSError: It cannot be moved.
        """
        place = self._reserved(safe_name(name))
        try:
            shutil.move(file, place)
            place.chmod(0o600)
        except OSError:
            place.unlink(missing_ok=True)
            raise
        return place

    def _reserved(self, name: str) -> Path:
        """Make an empty file of this name, or of the next that is free; other programs may use the folder as well."""
        path = PurePosixPath(name)
        for number in count(1):
            place = self.folder / (name if number == 1 else f"{path.stem} ({number}){path.suffix}")
            try:
                os.close(os.open(place, os.O_CREAT | os.O_EXCL, 0o600))
            except FileExistsError:
                continue
            return place
        raise AssertionError("unreachable")  # the numbers do not end


def safe_name(name: str) -> str:
    """Return a name without folders, odd characters and meanings, of some sixty characters at most."""
    plain = _ODD.sub("_", name.replace("\\", "/").rpartition("/")[2]).lstrip(" .-").rstrip(" .")
    path = PurePosixPath(plain or "file")
    suffix = path.suffix if len(path.suffix) <= _MAX_SUFFIX else ""
    stem = path.name.removesuffix(suffix)[:_MAX_STEM].strip(" .")
    return f"_{stem}{suffix}" if _DEVICE.match(f"{stem}.") else f"{stem}{suffix}"
