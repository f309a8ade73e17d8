"""The log's handler: it writes what it can, and raises nothing into who logs."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator

import pytest

from agent.logs import _PACKAGES, set_up_log
from agent.settings import load_settings


class Unsayable:
    def __str__(self) -> str:
        raise LookupError("no words")


class Broken(io.StringIO):
    def write(self, text: str, /) -> int:
        raise BrokenPipeError(text)


@pytest.fixture(params=["text", "json"])
def handler(request: pytest.FixtureRequest) -> Iterator[logging.Handler]:
    root, levels = logging.getLogger(), {name: logging.getLogger(name).level for name in _PACKAGES}
    before = list(root.handlers)
    set_up_log(load_settings(log_format=request.param, log_level="info"))
    [handler] = [each for each in root.handlers if each not in before]
    root.removeHandler(handler)
    yield handler
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def log(handler: logging.Handler, message: str, *values: object) -> None:
    """Hand a record to the handler alone: pytest's own ones raise what cannot be written."""
    handler.handle(logging.LogRecord("agent.loop", logging.INFO, "/loop.py", 7, message, values, None))


def test_a_record_that_cannot_be_written_is_told_of_and_the_next_one_is_written(
    handler: logging.Handler, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    log(handler, "took %d seconds", "three")
    log(handler, "%s and %s", "one")
    log(handler, "100 %", 1)
    log(handler, "%s", Unsayable())
    log(handler, "took %d seconds", 3)
    *flawed, last = stream.getvalue().splitlines()
    reasons = ["TypeError", "TypeError", "ValueError", "LookupError"]
    assert [line.partition("not written: ")[2].split('"')[0] for line in flawed] == [
        f"{reason} in loop.py:7" for reason in reasons
    ]
    assert "took 3 seconds" in last
    if last.startswith("{"):
        assert [json.loads(line)["level"] for line in (*flawed, last)] == ["error"] * 4 + ["info"]


def test_a_log_that_nobody_reads_any_more_raises_nothing(
    handler: logging.Handler, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = io.StringIO()
    closed.close()
    for stream in (closed, Broken()):
        monkeypatch.setattr(sys, "stderr", stream)
        log(handler, "whatever")
        log(handler, "took %d seconds", "three")
