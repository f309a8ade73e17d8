"""The trace of a run: one JSON object a line, written as it happens; `agent.timeline.trace_reader` reads it.

Invariant: what a run has told is in the file, in whole lines, whatever ends it; only the last may be cut short. And a
trace that cannot be written ends no run.

A run begins with a line that names the format and the time of day. From there on there is one clock, a monotonic one:
`at_s` is the seconds since that line. A file may hold several runs, one after the other; one that exists is continued.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import re
from collections.abc import Callable
from datetime import UTC, datetime
from os import SEEK_END
from pathlib import Path
from typing import Any, TextIO

from agent.errors import TraceUnwritable
from agent.events import RunEvent, Started

logger = logging.getLogger(__name__)

VERSION = 1
"""Of the format; it grows when a reader of the version before could be misled. New events and fields are no reason."""

_CREDENTIALS = re.compile(r"(?<=://)[^/@\s\"]+@")


def default_path(question: str, *, folder: Path = Path("runs"), now: Callable[[], datetime] = datetime.now) -> Path:
    """Name a trace after the time and the question."""
    words = re.sub(r"[^\w]+", "-", question.lower()).strip("-")[:48].rstrip("-")
    return folder / f"{now():%Y%m%d-%H%M%S-%f}-{words or 'run'}.jsonl"


class Trace:
    """A listener that writes every event to a file.

    Args:
        path: Where to; missing folders are made.
        now: Tells the time of day.
        mask: Takes secrets out of a line.

    Resource handling: owns the file; use it as a context manager or `close()` it.

    Raises:
        TraceUnwritable: The file cannot be opened.
    """

    def __init__(
        self,
        path: Path,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        mask: Callable[[str], str] = str,
    ) -> None:
        self.path = path
        self._now = now
        self._mask = mask
        self._began_seconds: float | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._gap = "" if _ends_whole(path) else "\n"
            # Half a surrogate pair, which a page's script can make, is written as the JSON escape that it is.
            self._file: TextIO | None = path.open("a", encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise TraceUnwritable(
                f"the trace {path} cannot be written: {error.strerror}",
                hint="Give another place with --trace PATH, or none with --no-trace.",
            ) from error

    def __call__(self, event: RunEvent) -> None:
        """Write one event; a full disk ends the trace with a warning, not the run."""
        if self._file is None:
            return
        try:
            if self._began_seconds is None or isinstance(event, Started):
                self._began_seconds = event.at_seconds
                self._file.write(self._heading())
            self._file.write(self._mask(_line(event, self._began_seconds)))
            self._file.flush()
        except OSError as error:
            logger.warning("The trace %s ends here: %s", self.path, error.strerror)
            self._give_up()

    def _heading(self) -> str:
        heading = {"event": "trace", "version": VERSION, "at_s": 0.0, "started_at": self._now().isoformat()}
        gap, self._gap = self._gap, ""
        return gap + json.dumps(heading) + "\n"

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


def _ends_whole(path: Path) -> bool:
    """Tell whether nothing was cut short: an earlier run may have ended in the middle of a line."""
    if not path.is_file():
        return True  # a pipe, say
    with path.open("rb") as file:
        end = file.seek(0, SEEK_END)
        file.seek(max(0, end - 1))
        return file.read() in (b"", b"\n")


def _line(event: RunEvent, began_seconds: float) -> str:
    name = type(event).__name__.lower()
    fields: dict[str, Any] = {"at_s": round(event.at_seconds - began_seconds, 6), "event": name}
    fields |= {key: value for key, value in dataclasses.asdict(event).items() if key != "at_seconds"}
    # A password in an address is a secret wherever the address turns up.
    return _CREDENTIALS.sub("***@", json.dumps(fields, ensure_ascii=False)) + "\n"
