"""Text files below one folder, read ahead of time.

Invariant: a kept text is the file's text now. Its key carries what the file system says of the file (which one, how
long, when changed), and a file changed so recently that a second change could bear the same time stamp has no key.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from speccache.read_environment import ReadEnvironment
from speccache.threads import Threads

# The coarsest time stamps in use are those of FAT, in steps of 2 s.
_TIMESTAMP_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class ReadFile:
    """Read a file.

    Attributes:
        path: Where it lies, relative to the folder.
    """

    path: str

    def __str__(self) -> str:
        return f"read {self.path}"


@dataclass(frozen=True, slots=True)
class WriteFile:
    """Write a file, new or in the place of an older one.

    Attributes:
        path: Where it goes, relative to the folder.
        text: What it says from now on.
    """

    path: str
    text: str

    def __str__(self) -> str:
        return f"write {self.path}"


FileAction = ReadFile | WriteFile


@dataclass(frozen=True, slots=True, kw_only=True)
class FileText:
    """What a file says.

    Attributes:
        path: The path asked for.
        text: The text, as it was read or written.
        problem: Why there is none, in a sentence; None if there is.
    """

    path: str
    text: str = ""
    problem: str | None = None

    @property
    def refusal(self) -> str | None:
        """Why this must not be kept; None if it may be."""
        return None if self.problem is None else "failed"


def file_environment(
    root: str | Path, *, max_bytes: int = 1024 * 1024, clock: Callable[[], float] = time.time
) -> ReadEnvironment[FileAction, FileText]:
    """Make an environment of the UTF-8 files below a folder.

    Paths that lead out of the folder, through symbolic links too, are refused. That guards against what an agent asks
    for, not against another process that moves links about in the same instant.

    Args:
        root: The folder.
        max_bytes: A longer file is a problem, not a text.
        clock: The time of day, in seconds since the epoch, as the file system stamps it.

    Resource handling: the environment's `aclose()` ends its threads.
    Cancellation: a read or write that has begun is waited for.
    """
    folder = _Folder(Path(os.path.realpath(root)), max_bytes=max_bytes, clock=clock)
    return ReadEnvironment(
        folder.do, key=folder.key, write=folder.do, refuse=lambda seen: seen.refusal, close=folder.aclose
    )


class _Folder:
    def __init__(self, root: Path, *, max_bytes: int, clock: Callable[[], float]) -> None:
        self._root = root
        self._max_bytes = max_bytes
        self._clock = clock
        self._threads = Threads("files")

    def key(self, action: FileAction) -> str | None:
        if not isinstance(action, ReadFile):
            return None
        try:
            status = self._inside(action.path).stat()
        except (OSError, ValueError):
            return None
        changed_seconds = max(status.st_mtime, status.st_ctime)
        if not stat.S_ISREG(status.st_mode) or self._clock() - changed_seconds < _TIMESTAMP_SECONDS:
            return None
        # The change time too: unlike the modification time, no program can set it back.
        version = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        return f"read {action.path!r} at {version}"

    async def do(self, action: FileAction) -> FileText:
        return await self._threads.run(lambda: self._do(action))

    def _do(self, action: FileAction) -> FileText:
        try:
            text = self._read(action.path) if isinstance(action, ReadFile) else self._write(action.path, action.text)
        except OSError as error:
            return FileText(path=action.path, problem=error.strerror or str(error))
        except ValueError as error:  # no UTF-8, or a path with a null character
            return FileText(path=action.path, problem=str(error))
        return FileText(path=action.path, text=text)

    def _read(self, path: str) -> str:
        place = self._inside(path)
        # Opening a pipe would wait for its other end.
        if place.exists() and not place.is_file():
            raise OSError("Not a file")
        with place.open("rb") as file:
            content = file.read(self._max_bytes + 1)
        if len(content) > self._max_bytes:
            raise OSError(f"Longer than {self._max_bytes} bytes")
        return content.decode()

    def _write(self, path: str, text: str) -> str:
        self._inside(path).write_bytes(text.encode())
        return text

    def _inside(self, path: str) -> Path:
        place = Path(os.path.realpath(self._root / path))
        if not place.is_relative_to(self._root):
            raise PermissionError("Outside of the folder")
        return place

    async def aclose(self) -> None:
        self._threads.close()
