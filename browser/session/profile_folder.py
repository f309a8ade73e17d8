"""A session that is kept between runs, in a folder of its own.

Invariant: at most one run has it at a time. The operating system holds the lock, so one that was killed leaves none.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import TracebackType

from filelock import FileLock, Timeout

from browser.errors import SessionUnusable
from browser.session.storage_state import StorageState, check_writable, load_state

_NAME = re.compile(r"[\w][\w.-]{0,63}")
_STATE_FILE = "storage-state.json"
_LOCK_FILE = "lock"


class Profile:
    """A folder with a session's storage state.

    Use it as `with Profile(folder) as profile:`.

    Args:
        folder: Where; it is made where it is not there.

    Resource handling: owns the folder's lock while it is entered.

    Raises:
        SessionUnusable: On entering: another run has it, or the folder cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = FileLock(folder / _LOCK_FILE, timeout=0, mode=0o600)

    def __enter__(self) -> Profile:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock.acquire()
        except Timeout as error:
            raise SessionUnusable(
                f"the profile {self.folder} is in use by another run",
                hint="Wait until that one has ended or use another --profile; --storage-state FILE is for any number.",
            ) from error
        except OSError as error:
            raise SessionUnusable(
                f"the profile {self.folder} cannot be used: {error.strerror or error}", hint="Name another folder."
            ) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    @property
    def path(self) -> Path:
        """Its storage state."""
        return self.folder / _STATE_FILE

    def load(self) -> StorageState | None:
        """Return what was saved; None where it is new.

        Raises:
            SessionUnusable: The file is damaged.
        """
        check_writable(self.path)
        return load_state(self.path) if self.path.exists() else None


def profile_folder(profile: str) -> Path:
    """Return the folder that a profile's name stands for, or that is named outright (`./here`, `~/there`, `/a/b`).

    Raises:
        ValueError: It is neither.
    """
    if "/" in profile or os.sep in profile or profile.startswith(("~", ".")):
        return Path(profile).expanduser()
    if _NAME.fullmatch(profile) is None:
        raise ValueError(f"{profile!r} is neither a name of letters, digits, '.', '_' and '-' nor a path with a '/'")
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return data / "speccache" / "profiles" / profile
