"""The folder of a run's results: what was found so far survives whatever ends the run, and is not asked again.

`conditions.json` says under which conditions the questions were asked, `runs.jsonl` has a record a line. Invariant: a
line is written whole and reaches the disk before its record counts as done; only the last one may be cut short, and is
then asked again. Records of other conditions are never mixed in.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from io import BufferedRandom
from pathlib import Path
from typing import Any, Self

from filelock import FileLock, Timeout

from evals.runs.conditions import Conditions
from evals.runs.errors import RunsUnusable
from evals.runs.record import Record
from evals.runs.whole_file import write_whole

logger = logging.getLogger(__name__)

CONDITIONS = "conditions.json"
RUNS = "runs.jsonl"
_LOCK = ".lock"
_OWN = frozenset({CONDITIONS, RUNS, _LOCK})


class Journal:
    """Keeps the records of one run, and goes on with those of an earlier start of it.

    Use it as `with Journal(folder, conditions) as journal:`.

    Args:
        folder: Where; made if it is not there.
        conditions: Under which conditions the questions are asked.

    Resource handling: owns the folder's lock and a file until its block is left; a folder that it made, and in which
        there is nothing then, is removed.

    Raises:
        RunsUnusable: On entering: the folder cannot be written, holds records of other conditions or none that can be
            read, or another run is writing to it. On `add`: the disk is full, or the folder is gone.
    """

    def __init__(self, folder: Path, conditions: Conditions) -> None:
        self.folder = folder
        self._conditions = conditions
        self._records: dict[tuple[str, str], Record] = {}
        self._lock = FileLock(folder / _LOCK)
        self._file: BufferedRandom | None = None
        self._is_new = False

    def __enter__(self) -> Self:
        try:
            self._is_new = not self.folder.exists()
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise RunsUnusable(
                f"another run is writing to {self.folder}", hint="Wait for it, or name another folder with --out."
            ) from error
        except OSError as error:
            raise RunsUnusable.unwritable(self.folder, error) from error
        try:
            self._begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            with suppress(OSError):  # `add` has told what did not reach the disk
                self._file.close()
        if self._is_new and not self._records:
            self._leave_nothing()
        self._lock.release()

    def _leave_nothing(self) -> None:
        """Remove a folder that this start has made, and has nothing to show for; one with other files in it stays."""
        with suppress(OSError):
            if {path.name for path in self.folder.iterdir()} <= _OWN:
                for path in self.folder.iterdir():
                    path.unlink()
                self.folder.rmdir()

    @property
    def records(self) -> tuple[Record, ...]:
        """The latest record of each question and mode, in the order they were first made."""
        return tuple(self._records.values())

    def record(self, item: str, mode: str) -> Record | None:
        """Return what was found for a question in a mode; None where it must be asked, or asked again."""
        found = self._records.get((item, mode))
        return None if found is None or found.broken else found

    def add(self, record: Record) -> None:
        """Keep a record.

        Raises:
            RunsUnusable: It cannot be written.
        """
        file = self._file
        if file is None:
            raise RuntimeError("the journal is not open: use it as `with Journal(...) as journal:`")
        line = json.dumps(record.as_json(), ensure_ascii=False) + "\n"
        try:
            # Half a surrogate pair, which a page may hold, is written as the JSON escape that it is.
            file.write(line.encode(errors="backslashreplace"))
            file.flush()
            os.fsync(file.fileno())
        except OSError as error:
            raise RunsUnusable.unwritable(self.folder, error) from error
        self._records[record.item, record.mode] = record

    def _begin(self) -> None:
        self._check_conditions()
        path = self.folder / RUNS
        try:
            file = path.open("a+b")
        except OSError as error:
            raise RunsUnusable.unwritable(self.folder, error) from error
        self._file = file
        file.seek(0)
        whole = 0
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                logger.warning("%s: the last line was cut short; its question is asked again", path)
                break
            whole += len(line)
            record = _parsed(line, f"{path}:{number}")
            self._records[record.item, record.mode] = record
        file.truncate(whole)

    def _check_conditions(self) -> None:
        path = self.folder / CONDITIONS
        try:
            if path.exists():
                before = Conditions.parse(json.loads(path.read_text(encoding="utf-8")))
                self._compare(before)
                return
            write_whole(path, json.dumps(self._conditions.as_json(), ensure_ascii=False, indent=2))
        except OSError as error:
            raise RunsUnusable.unwritable(self.folder, error) from error
        except (ValueError, TypeError) as error:
            raise RunsUnusable(
                f"{path} cannot be read: {error}", hint="Name another folder with --out, or remove this one."
            ) from error

    def _compare(self, before: Conditions) -> None:
        differing = [*_differing(before.as_json(), self._conditions.as_json())]
        if differing:
            raise RunsUnusable(
                f"{self.folder} holds a run of other conditions: {'; '.join(differing)}",
                hint="Go on with the same flags, or name another folder with --out.",
            )


def _differing(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    plain = json.loads(json.dumps(now))  # as it would have been read: no tuples
    for name in before.keys() | plain.keys():
        if before.get(name) != plain.get(name):
            yield f"{name} was {before.get(name)!r}, is {plain.get(name)!r}"


def _parsed(line: bytes, where: str) -> Record:
    try:
        return Record.parse(json.loads(line))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunsUnusable(
            f"{where} is no record of a run: {error!r}", hint="Name another folder with --out, or remove the line."
        ) from error
