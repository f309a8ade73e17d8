"""The trace of a run: one JSON object a line, written as it happens.

Invariant: what is in the file is whole lines, whatever ends the run; and a trace that cannot be written ends no run.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from agent.errors import TraceUnwritable
from agent.events import RunEvent

logger = logging.getLogger(__name__)

_CREDENTIALS = re.compile(r"(?<=://)[^/@\s\"]+@")


def default_path(question: str, *, folder: Path = Path("runs"), now: Callable[[], datetime] = datetime.now) -> Path:
    """Name a trace after the time and the question."""
    words = re.sub(r"[^\w]+", "-", question.lower()).strip("-")[:48].rstrip("-")
    return folder / f"{now():%Y%m%d-%H%M%S-%f}-{words or 'run'}.jsonl"


class Trace:
    """A listener that writes every event to a file.

    Args:
        path: Where to; missing folders are made.

    Resource handling: owns the file; use it as a context manager or `close()` it.

    Raises:
        TraceUnwritable: The file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._began_seconds: float | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: TextIO | None = path.open("a", encoding="utf-8")
        except OSError as error:
            raise TraceUnwritable(
                f"the trace {path} cannot be written: {error.strerror}",
                hint="Give another place with --trace PATH, or none with --no-trace.",
            ) from error

    def __call__(self, event: RunEvent) -> None:
        """Write one event; a full disk ends the trace with a warning, not the run."""
        if self._file is None:
            return
        if self._began_seconds is None:
            self._began_seconds = event.at_seconds
        try:
            self._file.write(_line(event, self._began_seconds))
            self._file.flush()
        except OSError as error:
            logger.warning("The trace %s ends here: %s", self.path, error.strerror)
            self._give_up()

    def _give_up(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            try:
                file.close()
            except OSError:
                logger.debug("closing %s failed too", self.path)

    def close(self) -> None:
        """Close the file; may be called twice."""
        self._give_up()

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _line(event: RunEvent, began_seconds: float) -> str:
    name = type(event).__name__.lower()
    fields: dict[str, Any] = {"at_s": round(event.at_seconds - began_seconds, 6), "event": name}
    fields |= {key: value for key, value in dataclasses.asdict(event).items() if key != "at_seconds"}
    # A password in an address is a secret wherever the address turns up.
    return _CREDENTIALS.sub("***@", json.dumps(fields, ensure_ascii=False)) + "\n"
