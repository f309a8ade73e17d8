"""OpenTelemetry: spans and metrics sent to where the standard `OTEL_*` variables say, over OTLP and HTTP.

Invariant: a collector that is slow, broken or not there neither ends nor slows a run. Sending happens in threads of its
own, and the command waits for it at its end for no longer than `FAREWELL_SECONDS`; what is lost by then is said.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from threading import Thread
from types import TracebackType
from typing import Any, Self

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import Counter, Histogram, Meter, MeterProvider
from opentelemetry.sdk.metrics import MeterProvider as SdkMeterProvider
from opentelemetry.sdk.metrics.export import MetricExportResult, MetricsData, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace import TracerProvider as SdkTracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.trace import TracerProvider

from agent.errors import ConfigurationError
from agent.telemetry.facts import captures_content
from agent.telemetry.instruments import INSTRUMENTS, SCHEMA_URL, SCOPE, Instrument, Measurement
from agent.telemetry.measuring import Measuring
from agent.telemetry.run_name import RunName
from agent.telemetry.spans import RunSpans
from agent.telemetry.watch import Follower

logger = logging.getLogger(__name__)

FAREWELL_SECONDS = 2.0
_PROTOCOL = "http/protobuf"
_PROTOCOL_VARIABLES = (
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
)


class Otel:
    """Makes the followers of runs, with providers that are already there: an application's own, say.

    Args:
        tracers: Makes spans.
        meters: Makes metrics.
        content: Whether questions, answers, thoughts, titles and whole addresses are recorded in spans.

    Resource handling: the providers stay their owner's.
    """

    def __init__(self, tracers: TracerProvider, meters: MeterProvider, *, content: bool | None = None) -> None:
        self._tracer = tracers.get_tracer(SCOPE, schema_url=SCHEMA_URL)
        self._content = captures_content() if content is None else content
        meter = meters.get_meter(SCOPE, schema_url=SCHEMA_URL)
        self._instruments = {each.name: _created(meter, each) for each in INSTRUMENTS}

    def followers(self, name: RunName, mask: Callable[[str], str]) -> Sequence[Follower]:
        """Return what follows one run."""
        spans = RunSpans(self._tracer, name, mask=mask, content=self._content)
        return spans, Measuring(self._measure, mode=name.mode)

    def _measure(self, measured: Measurement) -> None:
        instrument, attributes = self._instruments[measured.instrument.name], dict(measured.attributes)
        if isinstance(instrument, Counter):
            instrument.add(measured.value, attributes)
        else:
            instrument.record(measured.value, attributes)


def _created(meter: Meter, told: Instrument) -> Counter | Histogram:
    if told.kind == "counter":
        return meter.create_counter(told.name, unit=told.unit, description=told.description)
    return meter.create_histogram(
        told.name, unit=told.unit, description=told.description, explicit_bucket_boundaries_advisory=told.buckets
    )


class OtelExport:
    """Sends what is told to a collector: `with OtelExport() as export: export.otel.followers(…)`.

    Args:
        environment: Holds the `OTEL_*` variables that this class itself obeys; the SDK reads all others.
        farewell_seconds: How long leaving the block may take.

    Resource handling: owns both providers and their threads; leaving the block sends the rest, within a bounded time.

    Raises:
        ConfigurationError: A protocol is asked for that is not spoken here.
    """

    def __init__(
        self, *, environment: Mapping[str, str] = os.environ, farewell_seconds: float = FAREWELL_SECONDS
    ) -> None:
        _check_protocol(environment)
        # What it says of a collector that is away it says often, with tracebacks, and from threads; it is said once.
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
        self._lost = False
        self._farewell_seconds = farewell_seconds
        resource = _resource()
        self._tracers = SdkTracerProvider(resource=resource, shutdown_on_exit=False)
        readers = []
        if environment.get("OTEL_TRACES_EXPORTER") != "none":
            self._tracers.add_span_processor(BatchSpanProcessor(_Spans(self._lose)))
        if environment.get("OTEL_METRICS_EXPORTER") != "none":
            readers.append(PeriodicExportingMetricReader(_Metrics(self._lose)))
        self._meters = SdkMeterProvider(readers, resource=resource, shutdown_on_exit=False)
        self.otel = Otel(self._tracers, self._meters)

    def _lose(self) -> None:
        self._lost = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Side by side, so that one that hangs does not take the other's time; daemons, as neither can be stopped.
        closing = [Thread(target=each.shutdown, daemon=True) for each in (self._tracers, self._meters)]
        for thread in closing:
            thread.start()
        deadline = time.monotonic() + self._farewell_seconds
        for thread in closing:
            thread.join(max(0.0, deadline - time.monotonic()))
        if self._lost or any(thread.is_alive() for thread in closing):
            logger.warning("Telemetry was lost: the collector that OTEL_EXPORTER_OTLP_ENDPOINT names did not take it.")


def _check_protocol(environment: Mapping[str, str]) -> None:
    for variable in _PROTOCOL_VARIABLES:
        if environment.get(variable, _PROTOCOL) != _PROTOCOL:
            raise ConfigurationError(
                f"{variable} asks for {environment[variable]!r}, and telemetry is sent as {_PROTOCOL} only",
                hint=f"Set it to {_PROTOCOL}; collectors take that on port 4318.",
            )


def _resource() -> Resource:
    """Say what sends: what the standard variables say, else this program."""
    resource = Resource.create()
    if str(resource.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: SCOPE}))
    return resource


class _Spans(OTLPSpanExporter):
    """Tells when spans were not taken."""

    def __init__(self, lose: Callable[[], None]) -> None:
        super().__init__()
        self._lose = lose

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = super().export(spans)
        if result is not SpanExportResult.SUCCESS:
            self._lose()
        return result


class _Metrics(OTLPMetricExporter):
    """Tells when metrics were not taken."""

    def __init__(self, lose: Callable[[], None]) -> None:
        super().__init__()
        self._lose = lose

    def export(
        self, metrics_data: MetricsData, timeout_millis: float | None = 10_000, **kwargs: Any
    ) -> MetricExportResult:
        result = super().export(metrics_data, timeout_millis, **kwargs)
        if result is not MetricExportResult.SUCCESS:
            self._lose()
        return result
