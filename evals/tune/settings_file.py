"""Writing settings into a person's `speccache.toml`.

Invariant: every line that does not set one of the written values stays as it is, comments included; a reader sees the
old file or the new one, never a part of either.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import tomlkit
from tomlkit.exceptions import TOMLKitError

from agent.errors import ConfigurationError


def write_settings(path: Path, values: Mapping[str, int]) -> None:
    """Set values in a file, which is made where there is none.

    Raises:
        ConfigurationError: The file cannot be read or written.
    """
    target = path.resolve()  # a link stays a link
    try:
        text = _read(target)
        document = tomlkit.parse(text)
        document.update(values)
        _replace(target, tomlkit.dumps(document))
    except (OSError, UnicodeDecodeError, TOMLKitError) as error:
        raise ConfigurationError(
            f"{path} cannot be changed: {error}", hint="Correct the file, or set the values in it yourself."
        ) from error


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")  # line ends as they are
    except FileNotFoundError:
        return ""


def _replace(path: Path, text: str) -> None:
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(path.stat().st_mode if path.exists() else 0o644)
        Path(name).replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise
