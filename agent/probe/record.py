"""The record of an API latency study: one JSON object a line, added to over hours or days.

Invariant: a call is written down as soon as it has ended, so that a study that is broken off goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from agent.errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Calls that are alike, and so can be compared.

    Attributes:
        model: The model, with its provider where that was named.
        tier: The service tier that was asked for.
        place: Where the calls were made from, in the user's words.
    """

    model: str
    tier: str
    place: str

    def __str__(self) -> str:
        return " ".join(filter(None, (self.model, self.tier, self.place)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One call.

    Attributes:
        at: When it began, in ISO 8601 with the offset from UTC.
        model: See `Series`.
        tier: See `Series`.
        place: See `Series`.
        endpoint: The address of the endpoint.
        seconds: From the request to the whole reply.
        first_token_seconds: From the request to the first piece of text; None where none came.
        input_tokens: Of the prompt; 0 where the endpoint does not say.
        output_tokens: Of the reply; 0 where the endpoint does not say.
        error: Why there was no reply; empty where there was one.
    """

    at: str
    model: str
    tier: str
    place: str
    endpoint: str
    seconds: float
    first_token_seconds: float | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    error: str = ""

    @property
    def series(self) -> Series:
        """The series it belongs to."""
        return Series(model=self.model, tier=self.tier, place=self.place)

    @property
    def day(self) -> str:
        """The day it was made on."""
        return self.at[:10]


class RecordFile:
    """A file of records that may be there already.

    Args:
        path: Where it is.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> tuple[Record, ...]:
        """Read what is there; a last line that was cut short is left out.

        Raises:
            ConfigurationError: It cannot be read, or holds something else.
        """
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
        except FileNotFoundError:
            return ()
        except (OSError, ValueError) as error:
            raise self._wrong(str(error)) from error
        return tuple(self._read(line) for line in lines if line.endswith("\n"))

    def append(self, record: Record) -> None:
        """Add one record.

        Raises:
            ConfigurationError: It cannot be written.
        """
        line = json.dumps(asdict(record), ensure_ascii=False) + "\n"
        try:
            with self.path.open("a+", encoding="utf-8") as file:
                file.write(line)
        except OSError as error:
            raise ConfigurationError(
                f"{self.path} cannot be written: {error.strerror}", hint="Give another file with --output."
            ) from error

    def mend(self) -> None:
        """Take a last line away that was cut short, so that the next one begins a new line."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            with self.path.open("r+b") as file:
                file.truncate(whole)

    def _read(self, line: str) -> Record:
        known = {field.name for field in fields(Record)}
        try:
            return Record(**{name: value for name, value in json.loads(line).items() if name in known})
        except (ValueError, TypeError, AttributeError) as error:
            raise self._wrong(f"a line is no call of a study: {line.strip()[:80]!r}") from error

    def _wrong(self, what: str) -> ConfigurationError:
        return ConfigurationError(
            f"{self.path} is no record of a study: {what}", hint="Give another file with --output."
        )


def by_series(records: Sequence[Record]) -> dict[Series, list[Record]]:
    """Sort records into their series, in the order in which these first appear."""
    sorted_records: dict[Series, list[Record]] = {}
    for record in records:
        sorted_records.setdefault(record.series, []).append(record)
    return sorted_records
