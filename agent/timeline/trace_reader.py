"""Reads traces back, also those of runs that crashed.

Invariant: every whole line is read; what is not is left out and said, with its number. Nothing that stands in a trace
is trusted: a field that is not of the expected kind counts as missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from agent.errors import TraceUnreadable
from agent.trace import VERSION

_HINT = "Traces are the .jsonl files that `speccache ask` names at its end; by default they are in the folder runs/."

_TOO_LARGE = 1e15
"""Seconds, bytes and tokens are less; JSON's numbers know no bounds, and Python reads `NaN` and `Infinity`, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One line of a trace.

    Attributes:
        name: What happened: an event's class in lower case; for what happens in the cache, its kind.
        at_seconds: When, since the run's first line.
        fields: All that the line holds.
    """

    name: str
    at_seconds: float
    fields: Mapping[str, Any]

    def text(self, field: str) -> str:
        """Return a field that holds text; empty where it does not."""
        value = self.fields.get(field)
        return value if isinstance(value, str) else ""

    def number(self, field: str) -> float:
        """Return a field that holds a finite number of 0 or more; 0 where it does not."""
        value = self.fields.get(field)
        return float(value) if _is_number(value) and value >= 0 else 0.0

    def group(self, field: str) -> Record:
        """Return a field that holds fields of its own, as a record; one without any where it does not."""
        value = self.fields.get(field)
        fields = value if isinstance(value, dict) else {}
        return Record(name=f"{self.name}.{field}", at_seconds=self.at_seconds, fields=fields)

    def texts(self, field: str) -> tuple[str, ...]:
        """Return the texts in a field that holds a list; none where it does not."""
        value = self.fields.get(field)
        return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()

    @property
    def turn(self) -> int:
        """The turn it belongs to; 0 before the first decision."""
        return int(self.number("turn"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a trace.

    Attributes:
        source: The file it was read from.
        started_at: The time of day at its first line, as ISO 8601; empty where it is not known.
        records: What happened, in the order in which it was written.
        notes: What could not be read, a sentence each.
    """

    source: str
    started_at: str
    records: Sequence[Record]
    notes: Sequence[str] = ()

    @property
    def question(self) -> str:
        """What was asked; empty where the trace does not tell."""
        return next((record.text("question") for record in self.named("started")), "")

    @property
    def status(self) -> str:
        """How it ended."""
        return next((record.text("status") for record in self.named("finished")), "") or "not finished"

    def named(self, *names: str) -> list[Record]:
        """Return the records of these names."""
        return [record for record in self.records if record.name in names]


@dataclass(slots=True, kw_only=True)
class _Lines:
    """The lines of one run, while they are read."""

    started_at: str
    records: list[Record] = field(default_factory=list)
    damaged: list[int] = field(default_factory=list)


def read_trace(path: Path) -> tuple[Run, ...]:
    """Read the runs of a trace: a file that was continued holds several.

    Raises:
        TraceUnreadable: It cannot be opened, is no trace, or is one of a newer version.
    """
    try:
        with path.open("rb") as file:
            # By line feeds alone: other characters that end a line elsewhere may stand inside of one.
            return tuple(_runs(file, path))
    except OSError as error:
        raise TraceUnreadable(f"the trace {path} cannot be read: {error.strerror}", hint=_HINT) from error


def _runs(file: Iterable[bytes], path: Path) -> list[Run]:
    runs: list[_Lines] = []
    for number, line in enumerate(file, 1):
        record = _record(line)
        if record is not None and record.name == "trace":
            runs.append(_begin(record, path))
        elif not runs:
            raise TraceUnreadable(f"{path} is no trace: it does not begin as one", hint=_HINT)
        elif record is not None:
            runs[-1].records.append(record)
        elif line.strip():
            runs[-1].damaged.append(number)
    if not runs:
        raise TraceUnreadable(f"the trace {path} is empty: its run ended before it began", hint=_HINT)
    return [
        Run(source=str(path), started_at=run.started_at, records=run.records, notes=_notes(run.damaged)) for run in runs
    ]


def _begin(heading: Record, path: Path) -> _Lines:
    version = heading.number("version")
    if version != VERSION:
        raise TraceUnreadable(
            f"the trace {path} has version {version:g} of the format, and this program reads version {VERSION}",
            hint="Use the version of SpecCache that wrote it, or a newer one.",
        )
    return _Lines(started_at=heading.text("started_at"))


def _notes(damaged: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"line {number} is not whole, as after a crash; it was left out" for number in damaged)


def _record(line: bytes) -> Record | None:
    """Read a line; None where it is none of a trace."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or not isinstance(fields.get("event"), str) or not _is_number(fields.get("at_s")):
        return None
    kind = fields.get("kind")
    name = kind if fields["event"] == "event" and isinstance(kind, str) else fields["event"]
    return Record(name=name, at_seconds=float(fields["at_s"]), fields=fields)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _TOO_LARGE
