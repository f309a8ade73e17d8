"""The log, as the user wants it: lines of text or of JSON on standard error, from a level on.

Invariant: it is set up once, by a command; nothing is set up at import, and the library leaves the log to its user.
What `RunLog` says of a run holds nothing that its question or a page says.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TextIO

from agent.events import Call, CallKind, Finished, Observed, RunEvent, Started
from agent.telemetry.facts import shown_address
from agent.telemetry.run_name import RunName
from speccache.events import Event, EventKind

if TYPE_CHECKING:
    from agent.settings import Settings

_PACKAGES = ("agent", "browser", "speccache", "evals")
"""Whose level is set. Others keep theirs: what an HTTP client says of itself at `debug` holds whole prompts."""
_ROUTINE = (CallKind.REPLY, CallKind.DROP)
_FACTS = "facts"
_NAME = "run_name"
_current: ContextVar[RunName | None] = ContextVar("run_name", default=None)

logger = logging.getLogger(__name__)


class _Handler(logging.StreamHandler[TextIO]):
    """Writes to whatever standard error is at the moment, and raises nothing into what logs."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr  # a command puts what masks secrets in its place
        super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        """Write of a record that cannot be written, as one that can, whose it is and why; called for any exception."""
        told = f"{type(sys.exception()).__name__} in {record.filename}:{record.lineno}"
        flawed = logging.LogRecord(
            record.name, logging.ERROR, record.pathname, record.lineno, f"a record was not written: {told}", None, None
        )
        with suppress(OSError, ValueError):  # nobody reads it any more
            self.stream.write(self.format(flawed) + self.terminator)
            self.flush()


class JsonFormatter(logging.Formatter):
    """Writes a record as one JSON object on one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        name: RunName | None = getattr(record, _NAME, None) or _current.get()
        if name is not None:
            told = {"run": name.run, "question": name.question, "mode": name.mode}
            line |= {key: value for key, value in told.items() if value}
        line |= getattr(record, _FACTS, {})
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def set_up_log(settings: Settings) -> None:
    """Set the log up as the settings say; without any of them it stays as it is: warnings, as bare lines."""
    if settings.log_format == "text" and settings.log_level is None:
        return
    handler = _Handler()
    structured = settings.log_format == "json"
    handler.setFormatter(JsonFormatter() if structured else logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    for old in [each for each in root.handlers if isinstance(each, _Handler)]:
        root.removeHandler(old)
    root.addHandler(handler)
    level = settings.log_level or ("info" if structured else "warning")
    for package in _PACKAGES:
        logging.getLogger(package).setLevel(level.upper())


def is_structured() -> bool:
    """Tell whether standard error is for programs: then what a person would be told goes through the log, too."""
    return any(
        isinstance(handler, _Handler) and isinstance(handler.formatter, JsonFormatter)
        for handler in logging.getLogger().handlers
    )


@contextmanager
def named(name: RunName) -> Iterator[None]:
    """Let what is logged within the block carry a run's name."""
    before = _current.set(name)
    try:
        yield
    finally:
        _current.reset(before)


class RunLog:
    """A listener that writes a run into the log.

    Its pages, its end and what goes wrong with models are told at `info`, loads and requests at `debug`.

    Args:
        name: What the run is called.
    """

    def __init__(self, name: RunName) -> None:
        self._name = name

    def __call__(self, event: RunEvent) -> None:
        """Log one event."""
        match event:
            case Started():
                self._tell(logging.INFO, "run started", {"url": shown_address(event.url), "target": event.target})
            case Observed():
                facts = {"url": shown_address(event.url), "status": event.status, "waited_s": round(event.seconds, 6)}
                self._tell(logging.INFO, "page read", {**facts, "turn": event.turn})
            case Finished():
                self._tell(logging.INFO, "run ended", {"status": event.status})
            case Call():
                level = logging.DEBUG if event.kind in _ROUTINE else logging.INFO
                self._tell(level, f"model call: {event.kind}", {"model": event.model, "seconds": event.seconds})
            case Event():
                facts = {"url": shown_address(event.key.partition(" ")[0]), "predictor": event.predictor}
                facts |= (
                    {"reason": event.reason} if event.kind is EventKind.REFUSE else {}
                )  # an error's may say anything
                self._tell(logging.DEBUG, f"cache: {event.kind}", {**facts, "waited_s": event.waited_seconds})

    def close(self) -> None:
        """Nothing is held."""

    def _tell(self, level: int, message: str, facts: Mapping[str, object]) -> None:
        told = {key: value for key, value in facts.items() if value not in ("", None)}
        logger.log(level, message, extra={_NAME: self._name, _FACTS: told})
