"""Rows of JSON Lines, JSON, CSV and TSV files, read alike.

Invariant: what is wrong with a row is said with its file, its line or row, and its field.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from evals.suites.errors import ItemsInvalid

_MAX_SHOWN = 60
_ENDINGS = ".jsonl, .json, .csv or .tsv"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a file.

    Attributes:
        where: Its file, with its line or row counted from 1, for messages.
        number: Its place among the file's rows, from 0.
        fields: Its values by the file's own names.
    """

    where: str
    number: int
    fields: Mapping[str, Any]

    def get(self, *names: str) -> Any:
        """Return the value under the first of these names that the row has; None where it has none of them."""
        return next((self.fields[name] for name in names if name in self.fields), None)

    def text(self, *names: str, required: bool = True) -> str:
        """Return a text without the blanks around it; empty where it is missing and not required.

        Raises:
            ItemsInvalid: It is no text, or it is empty or missing though required.
        """
        value = self.get(*names)
        text = "" if value is None else value
        if not isinstance(text, str) or (required and not text.strip()):
            raise self.invalid(" or ".join(names), "a text that is not empty" if required else "a text", value)
        return text.strip()

    def texts(self, *names: str) -> tuple[str, ...]:
        """Return a list of texts; a text alone is a list of one, a missing list is empty.

        Raises:
            ItemsInvalid: It is anything else.
        """
        value = self.get(*names)
        if value is None or value == "":
            return ()
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
            raise self.invalid(" or ".join(names), "a list of texts", value)
        return tuple(listed)

    def unfolded(self, *names: str) -> Self:
        """Return the row with the fields of an object in it beside its own; the row itself where it has no such object.

        Raises:
            ItemsInvalid: The field is no object.
        """
        inner = self.get(*names)
        if inner is None:
            return self
        if not isinstance(inner, dict):
            raise self.invalid(" or ".join(names), "an object", inner)
        return replace(self, fields={**self.fields, **inner})

    def invalid(self, field: str, expected: str, found: object) -> ItemsInvalid:
        """Build the error that says what a field should hold."""
        shown = "nothing" if found is None else json.dumps(found, ensure_ascii=False, default=str)
        if len(shown) > _MAX_SHOWN:
            shown = f"{shown[:_MAX_SHOWN]}…"
        return ItemsInvalid(f"{self.where}: {field}: expected {expected}, found {shown}")


def read_rows(path: Path) -> tuple[Row, ...]:
    """Read all rows of a file; its ending says how. Blank lines are skipped.

    Raises:
        ItemsInvalid: The file cannot be read or holds no row, or a row is broken.
    """
    try:
        rows = tuple(_rows(path))
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror or str(error)) if isinstance(error, OSError) else "it is no UTF-8 text"
        raise ItemsInvalid(f"cannot read {path}: {why}", hint=f"Name a file that ends with {_ENDINGS}.") from error
    if not rows:
        raise ItemsInvalid(f"{path} holds no question", hint="Write one question a row.")
    return rows


def _rows(path: Path) -> Iterator[Row]:
    match path.suffix.lower():
        case ".jsonl":
            return _of_lines(path)
        case ".json":
            return _of_array(path)
        case ".csv":
            return _of_table(path, ",")
        case ".tsv":
            return _of_table(path, "\t")
        case _:
            raise ItemsInvalid(
                f"{path} is of no known format", hint=f"Name a file whose name ends with {_ENDINGS}, as its content is."
            )


def _of_lines(path: Path) -> Iterator[Row]:
    # Not `splitlines`: JSON texts may hold the other line separators of Unicode as they are.
    lines = enumerate(path.read_text(encoding="utf-8-sig").split("\n"), 1)
    for number, (line_number, line) in enumerate((place, line) for place, line in lines if line.strip()):
        where = f"{path}:{line_number}"
        yield Row(where=where, number=number, fields=_fields(_parsed(line, where), where))


def _of_array(path: Path) -> Iterator[Row]:
    raw = _parsed(path.read_text(encoding="utf-8-sig"), str(path))
    if not isinstance(raw, list):
        raise ItemsInvalid(
            f"{path}: expected a JSON array, found {type(raw).__name__}",
            hint="One object a line is the format of files that end with .jsonl.",
        )
    for number, each in enumerate(raw):
        where = f"{path}: row {number + 1}"
        yield Row(where=where, number=number, fields=_fields(each, where))


def _of_table(path: Path, delimiter: str) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, delimiter=delimiter, strict=True)
        try:
            for number, cells in enumerate(reader):
                where = f"{path}: row {number + 1}"
                if None in cells or None in cells.values():
                    wanted = len(reader.fieldnames or ())
                    raise ItemsInvalid(f"{where}: expected {wanted} cells, as many as there are names in the first row")
                yield Row(where=where, number=number, fields=cells)
        except csv.Error as error:
            raise ItemsInvalid(f"{path}: near line {reader.line_num}: {error}") from error


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ItemsInvalid(f"{where}: no JSON: {error}") from error


def _fields(raw: object, where: str) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise ItemsInvalid(f"{where}: expected a JSON object, found {type(raw).__name__}")
    return raw
