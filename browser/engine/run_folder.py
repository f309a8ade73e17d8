"""One folder for all temporary files of a run, which goes away with it; that of a run that was killed goes at the next.

A driver and its browsers put theirs into the folder that `TMPDIR` names, and leave them behind when they are killed.

Invariant: a folder is removed only under its lock, which its run holds from before the folder is made. The system lets
go of it when the run dies, however it dies.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

VARIABLE = "TMPDIR" if os.name == "posix" else "TEMP"
"""The environment variable that names a process's folder for temporary files."""

# Playwright gives it to its driver, which hands it on to browsers; whatever else was started meanwhile lacks it.
_DRIVER_VARIABLE = "PW_LANG_NAME"
_PREFIX = "speccache-run-"
_ENDING_SECONDS = 2.0


class RunFolder:
    """A folder of this run's own.

    Args:
        parent: Where it is made; None: the system's folder for temporary files.

    Resource handling: owns the folder and its lock; `remove()` removes both. These calls touch the disk.
    """

    def __init__(self, *, parent: Path | None = None) -> None:
        parent = Path(tempfile.gettempdir()) if parent is None else parent
        self.path = parent / f"{_PREFIX}{secrets.token_hex(8)}"
        self._lock = FileLock(_lock_path(self.path), mode=0o600, thread_local=False)

    def make(self) -> None:
        """Make the folder, and remove those whose runs are dead.

        Raises:
            OSError: There is no room for it, or no right to make it.
        """
        _sweep(self.path.parent)
        self._lock.acquire()
        self.path.mkdir(mode=0o700)

    def end_processes(self) -> None:
        """Kill every driver and browser that still has its temporary files here."""
        left = list(self.processes())
        for process in left:
            with suppress(psutil.Error):  # it ended meanwhile
                process.kill()
        psutil.wait_procs(left, timeout=_ENDING_SECONDS)

    def processes(self) -> Iterator[psutil.Process]:
        """Yield the drivers and browsers that were told to put their temporary files here."""
        for process in psutil.process_iter():
            with suppress(psutil.Error):  # another person's, or it ended meanwhile
                environment = process.environ()
                if _DRIVER_VARIABLE in environment and environment.get(VARIABLE) == str(self.path):
                    yield process

    def remove(self) -> None:
        """Remove the folder with all that is in it; may be called twice."""
        if self._lock.is_locked:
            _remove(self.path)
            self._lock.release()


def _sweep(parent: Path) -> None:
    for lock_path in parent.glob(f"{_PREFIX}*.lock"):
        if _is_own_file(lock_path):
            with suppress(Timeout, OSError), FileLock(lock_path, blocking=False, thread_local=False):
                _remove(lock_path.with_suffix(""))


def _is_own_file(path: Path) -> bool:
    """Whether nobody else can have put it there: folders for temporary files are open to all."""
    try:
        status = path.lstat()
    except OSError:  # its run has just ended
        return False
    return path.is_file() and not path.is_symlink() and (os.name != "posix" or status.st_uid == os.geteuid())


def _remove(folder: Path) -> None:
    """Remove a folder and its lock's file; the caller holds the lock."""
    # It follows no link. What is still being written there is left to the next sweep, with its lock's file.
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        with suppress(OSError):
            _lock_path(folder).unlink(missing_ok=True)


def _lock_path(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")
