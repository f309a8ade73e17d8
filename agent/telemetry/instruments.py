"""The metrics: their names, units, attributes and buckets, once, for OpenTelemetry and for Prometheus.

Invariant: names and attributes that begin with `gen_ai.`, `server.` or `error.` are those of `CONVENTIONS`; all others
begin with `speccache.`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

CONVENTIONS = "1.41.0"
"""The version of OpenTelemetry's semantic conventions that is followed: the last with those for generative AI in it.
They went on in a repository of their own, whose first version renames metrics that few tools read by then."""
SCHEMA_URL = f"https://opentelemetry.io/schemas/{CONVENTIONS}"
SCOPE = "speccache"

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
TOKEN_TYPE = "gen_ai.token.type"  # noqa: S105 - no password
SERVER_ADDRESS = "server.address"
SERVER_PORT = "server.port"
ERROR_TYPE = "error.type"
RESULT = "speccache.result"
KIND = "speccache.kind"
OUTCOME = "speccache.outcome"
STATUS = "speccache.status"
MODE = "speccache.mode"

_CALL = (OPERATION, PROVIDER, REQUEST_MODEL, SERVER_ADDRESS, SERVER_PORT)
_WAIT_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instrument:
    """One metric.

    Attributes:
        name: Its name in OpenTelemetry.
        kind: What it is.
        unit: Its unit in UCUM.
        description: What it counts or measures, in a sentence.
        attributes: What its values are told apart by.
        buckets: The upper bounds of a histogram.
    """

    name: str
    kind: Literal["counter", "histogram"]
    unit: str
    description: str
    attributes: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One value of a metric; an attribute that has nothing to say is left out."""

    instrument: Instrument
    value: float
    attributes: Mapping[str, str | int]


CALL_DURATION = Instrument(
    name="gen_ai.client.operation.duration",
    kind="histogram",
    unit="s",
    description="How long requests to models took, those that failed or were given up included.",
    attributes=(*_CALL, ERROR_TYPE),
    # The conventions' own bounds, as for tokens.
    buckets=(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92),
)
TOKENS = Instrument(
    name="gen_ai.client.token.usage",
    kind="histogram",
    unit="{token}",
    description="Tokens of requests that were answered, as the endpoint counts them.",
    attributes=(*_CALL, TOKEN_TYPE),
    buckets=(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864),
)
RUNS = Instrument(
    name="speccache.runs",
    kind="counter",
    unit="{run}",
    description="Questions asked, by how they ended.",
    attributes=(STATUS, MODE),
)
STEPS = Instrument(
    name="speccache.steps",
    kind="counter",
    unit="{step}",
    description="Actions of the target: hit, join, miss, direct (never run ahead), or uncached (no cache in use).",
    attributes=(RESULT, MODE),
)
EXPOSED = Instrument(
    name="speccache.exposed_web.duration",
    kind="histogram",
    unit="s",
    description="How long the target waited for an action's observation.",
    attributes=(RESULT, MODE),
    buckets=_WAIT_BUCKETS,
)
LOADS = Instrument(
    name="speccache.loads",
    kind="counter",
    unit="{load}",
    description="Loads that ended: ahead (stored, refused, failed, cancelled) or real (loaded).",
    attributes=(KIND, OUTCOME, MODE),
)
WASTED = Instrument(
    name="speccache.wasted",
    kind="counter",
    unit="{load}",
    description="Loads ahead that were never used; known when a run, or an MCP client's session, is over.",
    attributes=(MODE,),
)

INSTRUMENTS = (CALL_DURATION, TOKENS, RUNS, STEPS, EXPOSED, LOADS, WASTED)
