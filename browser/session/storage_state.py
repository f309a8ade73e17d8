"""Playwright's storage state, as a file: cookies, `localStorage` and IndexedDB of the origins visited.

Invariant: a file is whole, whatever ends the run that writes it, and only its owner can read it.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

from pydantic import BaseModel, ValidationError

from browser.errors import SessionUnusable

Origin = dict[str, Any]
"""What one origin has stored: `origin`, `localStorage` as a list of `name` and `value`, perhaps `indexedDB`."""


class StorageState(TypedDict):
    """All of it, as Playwright gives and takes it."""

    cookies: Sequence[Any]
    origins: Sequence[Origin]


class _Cookie(BaseModel):
    name: str
    value: str
    domain: str
    path: str
    expires: float = -1
    httpOnly: bool = False  # noqa: N815 - Playwright's word, as all of these
    secure: bool = False
    sameSite: Literal["Strict", "Lax", "None"] = "Lax"  # noqa: N815
    partitionKey: str | None = None  # noqa: N815


class _Item(BaseModel):
    name: str
    value: str


class _Origin(BaseModel):
    origin: str
    localStorage: list[_Item] = []  # noqa: N815
    indexedDB: list[Any] | None = None  # noqa: N815


class _State(BaseModel):
    cookies: list[_Cookie]
    origins: list[_Origin]


def load_state(path: Path) -> StorageState:
    """Read a file.

    Raises:
        SessionUnusable: It is not there, or is no storage state.
    """
    hint = "Such a file is written by --save-storage-state, or by Playwright's context.storage_state()."
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SessionUnusable(f"the storage state {path} cannot be read: {error.strerror}", hint=hint) from error
    except UnicodeDecodeError as error:
        raise SessionUnusable(f"{path} is no storage state: it is no text", hint=hint) from error
    try:
        json.loads(text)  # says where it is broken
        found = _State.model_validate_json(text).model_dump(exclude_none=True)
    except json.JSONDecodeError as error:
        raise SessionUnusable(f"{path} is no storage state: it is no JSON ({error})", hint=hint) from error
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(map(str, problem["loc"])) or "the whole"
        # Without `from`: the error repeats what the file holds.
        raise SessionUnusable(f"{path} is no storage state: {place}: {problem['msg']}", hint=hint) from None
    return StorageState(cookies=found["cookies"], origins=found["origins"])


def check_writable(path: Path) -> None:
    """Make sure, before anything is asked, that a file can be written here.

    Raises:
        SessionUnusable: It cannot.
    """
    problem = "it is a folder" if path.is_dir() else ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = error.strerror or str(error)
    if not problem and not os.access(path.parent, os.W_OK | os.X_OK):
        problem = f"the folder {path.parent} may not be written to"
    if problem:
        raise SessionUnusable(f"the session cannot be saved in {path}: {problem}", hint="Name another file.")


def save_state(path: Path, state: StorageState) -> None:
    """Write a file, readable by its owner only, in place of the one before.

    Raises:
        SessionUnusable: It cannot be written; the one before is still there.
    """
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mode 0600
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(state, file, ensure_ascii=True, indent=2)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise SessionUnusable(
            f"the session could not be saved in {path}: {error.strerror}", hint="Free some space, or name another file."
        ) from error
