"""What watchers are told: spans, metrics, Prometheus text and log lines, and nothing that they must not see."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from mcp import Client
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from prometheus_client.parser import text_string_to_metric_families

from agent import Agent, Outcome
from agent.errors import ConfigurationError
from agent.events import Call as ModelCall
from agent.events import CallKind, Concluded, Concluding, Finished, Observed, RunEvent, Started, Thinking
from agent.logs import JsonFormatter, named
from agent.target import Usage
from agent.telemetry import instruments, spans
from agent.telemetry.facts import CAPTURE_VARIABLE, action_kind, call_attributes, captures_content, shown_address
from agent.telemetry.metrics_server import serve_metrics
from agent.telemetry.otel import FAREWELL_SECONDS, Otel, OtelExport
from agent.telemetry.prometheus import Metrics, metric_name
from agent.telemetry.run_name import RunName
from agent.telemetry.watch import Watch, needing_extra
from speccache.events import Event, EventKind
from tests.agent.command import running, speccache
from tests.conventions.sources import ROOT
from tests.endpoints.scripted import Call, Fail, Say, ScriptedEndpoint
from tests.website import Website

SECRET = "hunter2"
QUESTION = "When was the oldest tram built?"
PAGES = {
    "/": f"<title>Depot</title><h1>Depot</h1><a href='/tram/{SECRET}?by=age'>The oldest tram</a>",
    f"/tram/{SECRET}": "<title>Trams</title><p>The oldest tram was built in 1908 by Carl Lind.</p>",
    "/yard": f"<title>Yard</title><h1>Yard of {SECRET}</h1><p>The oldest tram was built in 1908.</p>",
}
SCRIPT = (
    Fail(status=503),
    Say(calls=[Call("visit", '{"target": "1"}')], fields={"usage": {"prompt_tokens": 70, "completion_tokens": 5}}),
    Say(calls=[Call("answer", '{"answer": "1908, by Carl Lind", "sources": []}')], thought="It says 1908."),
)


@pytest.fixture(autouse=True)
def empty_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
async def site() -> AsyncIterator[Website]:
    async with Website(dict(PAGES)) as site:
        yield site


class Recorder:
    """Keeps what the SDK is told, in memory."""

    def __init__(self, *, content: bool = False) -> None:
        self._spans = InMemorySpanExporter()
        tracers = TracerProvider(shutdown_on_exit=False)
        tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        self._reader = InMemoryMetricReader()
        self.otel = Otel(tracers, MeterProvider([self._reader], shutdown_on_exit=False), content=content)

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self._spans.get_finished_spans())

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name == name]

    def points(self, name: str) -> dict[str, Any]:
        """The values of a metric, by the values of its attributes."""
        data: Any = self._reader.get_metrics_data()
        metrics = data.resource_metrics[0].scope_metrics[0].metrics
        points = [point for metric in metrics if metric.name == name for point in metric.data.data_points]
        return {" ".join(str(value) for value in point.attributes.values()): point for point in points}


def hidden(text: str) -> str:
    return text.replace(SECRET, "<hidden>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A run, and what was told of it."""

    outcome: Outcome
    recorder: Recorder
    metrics: Metrics


@pytest.fixture(scope="module")
async def told(site: Website, tmp_path_factory: pytest.TempPathFactory) -> Told:
    recorder, metrics = Recorder(), Metrics()
    watch = Watch([recorder.otel.followers, metrics.followers], metrics=metrics)
    async with ScriptedEndpoint(SCRIPT) as endpoint:
        given: dict[str, Any] = {"target": "scripted", "base_url": endpoint.base_url, "api_key": endpoint.api_key}
        async with Agent.open(**given, strategy="react", pool_size=2) as agent:
            watch.pool_opened(agent.pool)
            with watch.follow(question="q7", mode="spec", mask=hidden) as listener:
                outcome = await agent.ask(QUESTION, url=site.url + "/", listeners=[listener])
            figures = metrics.text()
            assert b"speccache_pool_browsers" in figures
    assert outcome.status == "answered", outcome.reason
    return Told(outcome=outcome, recorder=recorder, metrics=metrics)


def parent_of(span: ReadableSpan, spans: list[ReadableSpan]) -> str:
    names = {each.context.span_id: each.name for each in spans if each.context}
    return names[span.parent.span_id] if span.parent else ""


def test_the_spans_of_a_run_form_one_tree(told: Told) -> None:
    recorder = told.recorder
    assert len({span.context.trace_id for span in recorder.spans if span.context}) == 1
    tree = Counter((parent_of(span, recorder.spans), span.name) for span in recorder.spans)
    run = "invoke_agent speccache"
    assert tree == {
        ("", run): 1,
        (run, "decide"): 2,
        ("decide", "chat scripted"): 3,
        (run, "open page"): 2,
        (run, "load ahead"): told.outcome.account.speculated,
    }
    assert all(span.start_time <= span.end_time for span in recorder.spans if span.start_time and span.end_time)
    [whole] = recorder.named(run)
    lasted = ((whole.end_time or 0) - (whole.start_time or 0)) / 1e9
    assert lasted == pytest.approx(told.outcome.shares.total_seconds, abs=0.05)


def test_spans_follow_the_conventions(told: Told) -> None:
    [run] = told.recorder.named("invoke_agent speccache")
    attributes = dict(run.attributes or {})
    assert (run.kind, run.status.status_code) == (SpanKind.INTERNAL, StatusCode.UNSET)
    assert attributes["gen_ai.operation.name"] == "invoke_agent"
    assert attributes["gen_ai.agent.name"] == "speccache"
    assert attributes["gen_ai.provider.name"] == "openai"
    assert (attributes["speccache.question.id"], attributes["speccache.mode"]) == ("q7", "spec")
    assert attributes["gen_ai.usage.input_tokens"] == told.outcome.usage.input_tokens
    failed, first, _ = sorted(told.recorder.named("chat scripted"), key=lambda span: span.start_time or 0)
    asked = dict(first.attributes or {})
    assert first.kind is SpanKind.CLIENT
    assert (asked["gen_ai.operation.name"], asked["gen_ai.request.model"]) == ("chat", "scripted")
    assert (asked["gen_ai.usage.input_tokens"], asked["gen_ai.usage.output_tokens"]) == (70, 5)
    assert (asked["server.address"], "server.port" in asked) == ("127.0.0.1", True)
    assert (failed.status.status_code, (failed.attributes or {})["error.type"]) == (
        StatusCode.ERROR,
        "ModelUnreachable",
    )
    assert run.instrumentation_scope is not None
    assert run.instrumentation_scope.schema_url.endswith(instruments.CONVENTIONS)


def test_a_page_names_the_load_it_was_served_from(told: Told, site: Website) -> None:
    pages = sorted(told.recorder.named("open page"), key=lambda span: span.start_time or 0)
    attributes = [dict(page.attributes or {}) for page in pages]
    assert [each["url.full"] for each in attributes] == [f"{site.url}/", f"{site.url}/tram/<hidden>?by=REDACTED"]
    assert [each["speccache.result"] in ("miss", "hit", "join") for each in attributes] == [True, True]
    served = [page for page in pages if (page.attributes or {})["speccache.result"] in ("hit", "join")]
    loads = {load.context.span_id for load in told.recorder.named("load ahead") if load.context}
    assert served
    assert all({link.context.span_id for link in page.links} <= loads and page.links for page in served)


def test_nothing_of_question_page_answer_or_secret_is_told(told: Told) -> None:
    shown = "".join(span.to_json() for span in told.recorder.spans) + told.metrics.text().decode()
    for words in (SECRET, QUESTION, "oldest", "1908", "Depot", "Trams", "by=age"):
        assert words not in shown


def test_metrics_are_those_of_the_outcome(told: Told) -> None:
    account, recorder = told.outcome.account, told.recorder
    steps = {key.split()[0]: point.value for key, point in recorder.points("speccache.steps").items()}
    counted = {"hit": account.hits, "join": account.joins, "miss": account.misses}
    assert steps == {result: count for result, count in counted.items() if count}
    waited = sum(point.sum for point in recorder.points("speccache.exposed_web.duration").values())
    assert waited == pytest.approx(told.outcome.shares.exposed_seconds, abs=0.02)
    calls = recorder.points("gen_ai.client.operation.duration")
    assert sum(point.count for point in calls.values()) == told.outcome.requests.roles["target"].requests
    tokens = recorder.points("gen_ai.client.token.usage")
    read = sum(point.sum for key, point in tokens.items() if key.endswith("input"))
    assert read == told.outcome.usage.input_tokens
    loads = recorder.points("speccache.loads")
    assert sum(point.value for key, point in loads.items() if key.startswith("ahead")) == account.speculated
    assert sum(point.value for point in recorder.points("speccache.wasted").values()) == account.wasted


def samples(text: str) -> dict[str, float]:
    """Every figure of a text, as `name value-of-label …`."""
    return {
        " ".join(
            [sample.name, *filter(None, map(sample.labels.get, sorted(sample.labels, reverse=True)))]
        ): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_prometheus_reads_the_same_figures(told: Told) -> None:
    figures, account = samples(told.metrics.text().decode()), told.outcome.account
    assert figures["speccache_runs_total answered spec"] == 1
    for result, count in (("hit", account.hits), ("join", account.joins), ("miss", account.misses)):
        assert figures.get(f"speccache_steps_total {result} spec", 0) == count
    assert figures.get("speccache_wasted_total spec", 0) == account.wasted
    waits = [name for name in figures if name.startswith("speccache_exposed_web_duration_seconds_count ")]
    assert sum(figures[name] for name in waits) == len(told.outcome.trajectory)
    assert figures["speccache_pool_slots idle"] >= 0


@dataclass(slots=True)
class Collector:
    """An OTLP collector on loopback; one that hangs takes everything and answers nothing."""

    hangs: bool = False
    spans: list[Any] = field(default_factory=list)
    metrics: set[str] = field(default_factory=set)
    headers: list[str] = field(default_factory=list)
    url: str = ""

    async def traces(self, request: web.Request) -> web.Response:
        body = ExportTraceServiceRequest.FromString(await self._body(request))
        for resource in body.resource_spans:
            self.spans += [(resource.resource, span) for scope in resource.scope_spans for span in scope.spans]
        return web.Response()

    async def figures(self, request: web.Request) -> web.Response:
        body = ExportMetricsServiceRequest.FromString(await self._body(request))
        for resource in body.resource_metrics:
            self.metrics |= {metric.name for scope in resource.scope_metrics for metric in scope.metrics}
        return web.Response()

    async def _body(self, request: web.Request) -> bytes:
        self.headers.append(request.headers.get("x-tenant", ""))
        if self.hangs:
            await asyncio.get_running_loop().create_future()
        return await request.read()


@asynccontextmanager
async def collector(*, hangs: bool = False) -> AsyncIterator[Collector]:
    found = Collector(hangs=hangs)
    application = web.Application()
    application.router.add_post("/v1/traces", found.traces)
    application.router.add_post("/v1/metrics", found.figures)
    runner = web.AppRunner(application, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    found.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield found
    finally:
        await runner.cleanup()


async def test_the_command_sends_a_run_and_logs_lines_of_json(site: Website, tmp_path: Path) -> None:
    async with collector() as found:
        words = (
            "ask",
            QUESTION,
            "--url",
            f"{site.url}/yard",
            "--otel",
            "--log-format",
            "json",
            "--secret",
            f"PW={SECRET}",
        )
        variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": found.url, "OTEL_EXPORTER_OTLP_HEADERS": "x-tenant=blue"}
        result = await speccache(*words, cwd=tmp_path, variables=variables)
    assert (result.code, "1908" in result.out) == (0, True), result.err
    names = Counter(span.name for _, span in found.spans)
    assert (names["invoke_agent speccache"], names["open page"]) == (1, 1)
    assert {"speccache.runs", "speccache.steps", "speccache.exposed_web.duration"} <= found.metrics
    assert set(found.headers) == {"blue"}
    sent = "".join(str(each) for each in found.spans)
    assert all(words not in sent for words in (SECRET, "oldest", "1908"))
    assert 'string_value: "speccache"' in str(found.spans[0][0])
    lines = [json.loads(line) for line in result.err.splitlines()]
    assert all(line.keys() >= {"time", "level", "logger", "message"} for line in lines)
    told = {line["message"]: line for line in lines}
    assert told["run ended"]["status"] == "answered"
    [run] = {line["run"] for line in lines if "run" in line}
    assert f'string_value: "{run}"' in sent
    assert SECRET not in result.err


@pytest.mark.parametrize("hangs", [True, False])
async def test_a_dead_collector_costs_a_bounded_time_and_a_warning(
    hangs: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert FAREWELL_SECONDS <= 3
    async with collector(hangs=hangs) as found:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", found.url if hangs else "http://127.0.0.1:1")
        started_seconds = time.monotonic()
        with OtelExport(farewell_seconds=0.2) as export, Watch([export.otel.followers]).follow() as listener:
            for event in EVENTS:
                listener(event)
            told_seconds = time.monotonic() - started_seconds
        ended_seconds = time.monotonic() - started_seconds - told_seconds
    assert told_seconds < 1
    assert ended_seconds < 1
    assert "Telemetry was lost" in caplog.text


def test_a_protocol_that_is_not_spoken_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="grpc") as error:
        OtelExport(environment={"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"})
    assert "http/protobuf" in error.value.hint


def test_a_missing_extra_is_named() -> None:
    with pytest.raises(ConfigurationError, match="not_there") as error, needing_extra("otel", "OpenTelemetry"):
        import not_there  # noqa: F401
    assert "speccache[otel]" in error.value.hint


KEY = "http://site.test/tides?day=monday anonymous"
EVENTS: tuple[RunEvent, ...] = (
    Started(at_seconds=1, question="what?", url="http://me:pw@site.test/", target="model"),
    Thinking(at_seconds=1, turn=1),
    ModelCall(at_seconds=2, kind=CallKind.RETRY, role="target", model="model", reason="it was busy", seconds=1.0),
    ModelCall(at_seconds=3, kind=CallKind.DROP, role="draft", model="google:flash", usage=Usage(input_tokens=9)),
    Event(kind=EventKind.LAUNCH, at_seconds=2, turn=1, action="visit 1", key=KEY, predictor="rank", rank=1),
    Event(
        kind=EventKind.REFUSE, at_seconds=2, turn=1, action="visit 2", key="http://site.test/logout", reason="logout"
    ),
    Observed(
        at_seconds=3,
        turn=1,
        action="search 'tides on monday'",
        url="http://me:pw@site.test/?day=monday#part",
        title="Tides",
        status=200,
        readiness="static",
        problem=None,
        text="High water is at noon.",
        seconds=0.5,
    ),
    Concluding(at_seconds=3, turn=1),
    Concluded(at_seconds=4, turn=1, action="answer", thought="Monday it is.", seconds=1, usage=Usage()),
    Finished(at_seconds=5, status="limit", answer="noon", sources=(), reason="No answer within 1 turn."),
)


def follow(recorder: Recorder) -> None:
    with Watch([recorder.otel.followers]).follow() as listener:
        for event in EVENTS:
            listener(event)


def test_a_session_without_end_links_pages_to_its_latest_loads_and_forgets_the_rest() -> None:
    recorder, count = Recorder(), 3000
    [spans_of_it, *others] = recorder.otel.followers(RunName(), str)
    assert isinstance(spans_of_it, spans.RunSpans)
    for at in range(count):
        told = {"at_seconds": float(at), "turn": at, "action": "visit 1", "key": f"http://site.test/{at} anonymous"}
        for kind in (EventKind.LAUNCH, EventKind.LOAD if at % 3 else EventKind.CANCEL):
            spans_of_it(Event(kind=kind, **told))  # type: ignore[arg-type]
    assert len(spans_of_it._contexts) == spans._MAX_LINKED
    for at in (1, count - 2):
        key = f"http://site.test/{at} anonymous"
        spans_of_it(Event(kind=EventKind.HIT, at_seconds=count, turn=at, action="visit 1", key=key))
    for follower in (spans_of_it, *others):
        follower.close()
    assert [len(page.links) for page in recorder.named("open page")] == [0, 1]
    assert not spans_of_it._loads


def test_with_leave_content_is_recorded() -> None:
    recorder = Recorder(content=True)
    follow(recorder)
    [run], [page], [end] = (recorder.named(name) for name in ("invoke_agent speccache", "open page", "conclude"))
    messages = json.loads(str((run.attributes or {})["gen_ai.output.messages"]))
    assert messages == [{"role": "assistant", "parts": [{"type": "text", "content": "noon"}]}]
    assert (page.attributes or {})["url.full"] == "http://REDACTED:REDACTED@site.test/?day=monday#part"
    assert (page.attributes or {})["speccache.page.title"] == "Tides"
    assert (end.attributes or {})["speccache.thought"] == "Monday it is."


def test_without_leave_none_is() -> None:
    recorder = Recorder()
    follow(recorder)
    shown = "".join(span.to_json() for span in recorder.spans)
    assert all(words not in shown for words in ("what?", "monday", "Monday", "Tides", "noon", "pw", "busy"))


def test_what_is_under_way_ends_with_the_run() -> None:
    recorder = Recorder()
    follow(recorder)
    [load], [draft] = recorder.named("load ahead"), recorder.named("chat flash")
    assert (load.attributes or {})["speccache.outcome"] == "cancelled"
    assert parent_of(draft, recorder.spans) == "invoke_agent speccache"
    assert (draft.attributes or {})["gen_ai.provider.name"] == "gcp.gemini"
    [decide] = recorder.named("decide")
    assert [event.name for event in decide.events] == ["speccache.retry"]
    assert recorder.points("speccache.wasted")[""].value == 1
    assert "refused" not in " ".join(recorder.points("speccache.loads")), "a guess that was refused never loaded"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://site.test/a?q=what+is&token#top", "https://site.test/a?q=REDACTED&REDACTED"),
        ("https://me:pw@[::1]:8080/", "https://REDACTED:REDACTED@[::1]:8080/"),
        ("file:///etc/passwd", ""),
        ("visit 3", ""),
        ("http://[broken", ""),
    ],
)
def test_addresses_are_shown_without_what_was_asked(url: str, shown: str) -> None:
    assert shown_address(url) == shown


def test_signatures_are_never_shown() -> None:
    assert shown_address("https://s.test/?q=a&sig=b", content=True) == "https://s.test/?q=a&sig=REDACTED"


def test_content_needs_leave() -> None:
    assert not captures_content({})
    assert not captures_content({CAPTURE_VARIABLE: "false"})
    assert captures_content({CAPTURE_VARIABLE: "True"})
    assert captures_content({CAPTURE_VARIABLE: "SPAN_ONLY"})


def test_actions_are_told_by_their_kind() -> None:
    kinds = [action_kind(each) for each in ("visit http://a.test", "search 'a b'", "back", "answer")]
    assert kinds == ["visit", "search", "back", "answer"]


def test_a_model_of_an_endpoint_of_ones_own_keeps_its_colon() -> None:
    call = ModelCall(at_seconds=0, kind=CallKind.REPLY, role="target", model="qwen3:4b", server="[::1]:11434")
    attributes = call_attributes(call)
    assert (attributes["gen_ai.request.model"], attributes["gen_ai.provider.name"]) == ("qwen3:4b", "openai")
    assert (attributes["server.address"], attributes["server.port"]) == ("::1", 11434)


def test_a_log_line_is_an_object_with_its_run() -> None:
    record = logging.LogRecord("agent.x", logging.WARNING, "x.py", 1, "a %s\nb", ("page",), None)
    with named(RunName(run="r1", question="q1")):
        line = json.loads(JsonFormatter().format(record))
    assert line.pop("time").endswith("+00:00")
    assert line == {"level": "warning", "logger": "agent.x", "message": "a page\nb", "run": "r1", "question": "q1"}


async def scraped(url: str, **headers: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
        return answer.status, await answer.text()


async def line_of(stream: asyncio.StreamReader | None, wanted: Callable[[str], bool]) -> str:
    assert stream is not None
    said = ""
    while line := (await stream.readline()).decode():
        if wanted(line):
            return line.split()[-1]
        said += line
    raise AssertionError(said)


async def test_a_suite_serves_its_figures_while_it_runs(tmp_path: Path) -> None:
    async with running("eval", "walks", "--limit", "1", "--metrics", "0", cwd=tmp_path) as command:
        url = await line_of(command.process.stderr, lambda line: line.startswith("metrics: "))
        status, text = await scraped(url)
    assert status == 200
    assert any(family.name == "speccache_runs" for family in text_string_to_metric_families(text))


async def test_the_mcp_server_serves_its_figures(site: Website, tmp_path: Path) -> None:
    words = ("mcp", "--http", "--port", "0", "--metrics", "--url", site.url)
    async with running(*words, cwd=tmp_path) as command:
        url = await line_of(command.process.stderr, lambda line: "serving MCP" in line)
        async with Client(url) as client:
            await client.call_tool("open", {"url": site.url})
        figures = url.removesuffix("/mcp") + "/metrics"
        status, text = await scraped(figures)
        refused, _ = await scraped(figures, Host="evil.test")
    assert (status, refused) == (200, 421)
    assert samples(text)["speccache_steps_total miss"] == 1
    assert samples(text)["speccache_pool_browsers"] >= 1


@pytest.mark.parametrize("place", ["nowhere", "localhost", "70000", "a b:1"])
async def test_a_wrong_place_for_figures_is_refused(place: str) -> None:
    with pytest.raises(ConfigurationError, match="cannot be served"):
        async with serve_metrics(Metrics(), place):
            pass


def test_the_page_of_the_docs_names_every_metric_and_every_attribute() -> None:
    text = (ROOT / "docs" / "observability.md").read_text(encoding="utf-8")
    for told in instruments.INSTRUMENTS:
        attributes = ", ".join(f"`{each}`" for each in told.attributes)
        suffix = "_total" if told.kind == "counter" else ""
        row = f"| `{told.name}` | {told.kind}, `{told.unit}` | `{metric_name(told)}{suffix}` | {attributes} |"
        assert row in text
    own = {value for name, value in vars(spans).items() if name.isupper() and isinstance(value, str) and "." in value}
    assert {name for name in own if f"`{name}`" not in text} == set()
    assert instruments.CONVENTIONS in text
