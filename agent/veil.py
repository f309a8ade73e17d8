"""Keeps a run's secrets out of all that a command prints: answers, progress, warnings, errors, tracebacks.

Invariant: once it knows them, no line leaves through standard output or standard error that holds one.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from types import TracebackType
from typing import Self, TextIO


class Veil:
    """Masks what is printed while it is entered.

    Use it as `with Veil() as veil:`, and `veil.hide(allowance.masked)` once the secrets are known.

    Resource handling: puts itself in the place of both streams, and gives them back.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._mask: Callable[[str], str] = str

    def hide(self, mask: Callable[[str], str]) -> None:
        """Mask with this function from now on."""
        self._mask = mask

    def masked(self, text: str) -> str:
        """Return a text as it may be shown."""
        return self._mask(text)

    def __enter__(self) -> Self:
        self._stack.enter_context(redirect_stdout(_Veiled(sys.stdout, self)))
        self._stack.enter_context(redirect_stderr(_Veiled(sys.stderr, self)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()


class _Veiled(io.TextIOBase):
    """A text stream in front of another."""

    def __init__(self, stream: TextIO, veil: Veil) -> None:
        self._stream = stream
        self._veil = veil

    def write(self, text: str, /) -> int:
        self._stream.write(self._veil.masked(text))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]  # read by rich, which draws lines where it is UTF-8
        return self._stream.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        return self._stream.errors
