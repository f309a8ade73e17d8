"""The command line's flags for those who watch runs from outside.

Invariant: as in `agent.flags`, of which they are a part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

Otel = Annotated[
    bool | None,
    typer.Option(
        "--otel/--no-otel",
        help="Send OpenTelemetry spans and metrics to where OTEL_EXPORTER_OTLP_ENDPOINT says; extra 'otel'."
        "  \\[default: off]",
    ),
]
LogFormat = Annotated[
    str | None,
    typer.Option("--log-format", metavar="text|json", help="How standard error is written.  \\[default: text]"),
]
LogLevel = Annotated[
    str | None,
    typer.Option(
        "--log-level",
        metavar="LEVEL",
        help="What is logged: debug, info, warning or error.  \\[default: warning; with json info]",
    ),
]

OBSERVING: Mapping[str, Any] = {"otel": Otel, "log_format": LogFormat, "log_level": LogLevel}
"""Who watches from outside, and how."""
