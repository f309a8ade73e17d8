"""From the events of a run to spans.

Invariant: spans lie where their events say, on one clock; and what a page, a question or a model says is in none of
them, unless there is leave (see `agent.telemetry.facts`).

```
invoke_agent speccache     the run
├── decide                 the target's decision, or conclude
│   └── chat {model}       a request to the target's model
├── chat {model}           a request to the draft model, which may outlive the decision it runs beside
├── open page              what the target waited for, with a link to the load ahead that it was served from
└── load ahead             a load that was speculated on; it may outlive what comes after it, and the run
```
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version

from opentelemetry.trace import Span, SpanContext, SpanKind, Status, StatusCode, Tracer, set_span_in_context

from agent.events import (
    Call,
    CallKind,
    Concluded,
    Concluding,
    Decided,
    Finished,
    Observed,
    RunEvent,
    Started,
    Thinking,
)
from agent.telemetry.facts import action_kind, call_attributes, shown_address
from agent.telemetry.instruments import ERROR_TYPE, MODE, OPERATION, OUTCOME, PROVIDER, REQUEST_MODEL, RESULT, STATUS
from agent.telemetry.measuring import LOAD_OUTCOMES, STEP_KINDS, UNCACHED
from agent.telemetry.run_name import RunName
from speccache.events import Event, EventKind

AGENT_NAME = "gen_ai.agent.name"
AGENT_VERSION = "gen_ai.agent.version"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
URL = "url.full"
HTTP_STATUS = "http.response.status_code"
RUN = "speccache.run.id"
QUESTION = "speccache.question.id"
TURN = "speccache.turn"
ACTION = "speccache.action"
WAITED = "speccache.waited_s"
READINESS = "speccache.readiness"
PREDICTOR = "speccache.predictor"
RANK = "speccache.rank"
SIZE = "speccache.size_bytes"
ROLE = "speccache.role"
ESTIMATED = "speccache.usage.estimated"
COST = "speccache.cost_usd"
THOUGHT = "speccache.thought"
TITLE = "speccache.page.title"

_OTHER = "_OTHER"
"""What the conventions say where no class of an error is known."""
_CALL_OUTCOMES = {CallKind.REPLY: "answered", CallKind.FAIL: "failed", CallKind.DROP: "given_up"}

_MAX_LINKED = 1024
"""How many loads ahead, the latest, a page may be linked to: four times what the store holds by default."""

Attributes = Mapping[str, str | int | float | bool]


class RunSpans:
    """A listener that makes the spans of one run, or of one session of an MCP client, where each page stands alone.

    Args:
        tracer: Makes spans.
        name: What the run is called.
        mask: Takes secrets out of a text.
        content: Whether questions, answers, thoughts, titles and whole addresses may be recorded.
        epoch_seconds: The time of day at zero of the events' clock.

    Resource handling: `close()` it once all its events were told: what is under way then ends there.
    """

    def __init__(
        self,
        tracer: Tracer,
        name: RunName,
        *,
        mask: Callable[[str], str] = str,
        content: bool = False,
        epoch_seconds: float | None = None,
    ) -> None:
        self._tracer = tracer
        self._name = name
        self._mask = mask
        self._content = content
        self._epoch_seconds = time.time() - time.monotonic() if epoch_seconds is None else epoch_seconds
        self._run: Span | None = None
        self._deciding: Span | None = None
        self._step: Event | None = None
        self._loads: dict[str, Span] = {}
        self._contexts: dict[str, SpanContext] = {}
        self._tokens = {INPUT_TOKENS: 0, OUTPUT_TOKENS: 0}
        self._latest_seconds = 0.0

    def __call__(self, event: RunEvent) -> None:
        """Begin, end or mark a span."""
        self._latest_seconds = event.at_seconds
        match event:
            case Started():
                self._started(event)
            case Thinking() | Concluding():
                name = "decide" if isinstance(event, Thinking) else "conclude"
                self._end(self._deciding, event.at_seconds)
                self._deciding = self._begin(name, event.at_seconds, {TURN: event.turn})
            case Decided() | Concluded():
                self._decided(event)
            case Observed():
                self._observed(event)
            case Call():
                self._called(event)
            case Event():
                self._happened(event)
            case Finished():
                self._finished(event)

    def close(self) -> None:
        """End what never ended; may be called twice."""
        for key in list(self._loads):
            self._loaded(key, "cancelled", self._latest_seconds, {})
        for span in (self._deciding, self._run):
            self._end(span, self._latest_seconds)

    def _end(self, span: Span | None, at_seconds: float) -> None:
        """End what came to no end of its own, as a decision does whose model failed."""
        if span is not None and span.is_recording():
            _failed(span, _OTHER)
            span.end(self._nanoseconds(at_seconds))

    def _started(self, event: Started) -> None:
        attributes: dict[str, str] = {OPERATION: "invoke_agent", AGENT_NAME: "speccache", RUN: self._name.run}
        attributes |= {AGENT_VERSION: version("speccache"), REQUEST_MODEL: event.target, PROVIDER: "speccache"}
        attributes |= {QUESTION: self._name.question} if self._name.question else {}
        attributes |= {MODE: self._name.mode} if self._name.mode else {}
        attributes |= self._said({INPUT_MESSAGES: _messages("user", event.question)})
        self._run = self._begin("invoke_agent speccache", event.at_seconds, attributes)

    def _finished(self, event: Finished) -> None:
        self._end(self._deciding, event.at_seconds)
        if self._run is None:
            return
        self._run.set_attributes({STATUS: event.status, **self._tokens})
        if event.answer:
            self._run.set_attributes(self._said({OUTPUT_MESSAGES: _messages("assistant", event.answer)}))
        if event.status in ("error", "interrupted"):
            _failed(self._run, event.status if event.status == "interrupted" else _OTHER)
        self._run.end(self._nanoseconds(event.at_seconds))

    def _decided(self, event: Decided | Concluded) -> None:
        span, self._deciding = self._deciding, None
        if span is None:
            return
        used = {INPUT_TOKENS: event.usage.input_tokens, OUTPUT_TOKENS: event.usage.output_tokens}
        for name, tokens in used.items():
            self._tokens[name] += tokens
        span.set_attributes({ACTION: action_kind(event.action), **used})
        span.set_attributes(self._said({THOUGHT: event.thought}))
        span.end(self._nanoseconds(event.at_seconds))

    def _called(self, call: Call) -> None:
        parent = self._deciding if call.role == "target" and self._deciding is not None else self._run
        outcome = _CALL_OUTCOMES.get(call.kind)
        if outcome is None:  # what is done about a call is a mark in the span that it is done for
            if parent is not None:
                told: dict[str, str | float] = {
                    REQUEST_MODEL: call.model,
                    ROLE: call.role,
                    "speccache.seconds": call.seconds,
                }
                parent.add_event(f"speccache.{call.kind}", told, self._nanoseconds(call.at_seconds))
            return
        attributes: dict[str, str | int | float | bool] = {**call_attributes(call), ROLE: call.role, OUTCOME: outcome}
        if call.usage is not None:
            attributes |= {INPUT_TOKENS: call.usage.input_tokens, OUTPUT_TOKENS: call.usage.output_tokens}
            attributes |= {ESTIMATED: True} if call.estimated else {}
        if call.cost_usd is not None:
            attributes[COST] = call.cost_usd
        if call.role == "target" and self._run is not None and self._run.is_recording():
            self._run.set_attribute(PROVIDER, attributes[PROVIDER])
        name = f"chat {attributes[REQUEST_MODEL]}"
        started_seconds = call.at_seconds - call.seconds
        span = self._begin(name, started_seconds, attributes, parent=parent, kind=SpanKind.CLIENT)
        if call.kind is CallKind.FAIL or call.error:
            _failed(span, call.error or _OTHER)
        span.end(self._nanoseconds(call.at_seconds))

    def _happened(self, event: Event) -> None:
        if event.kind is EventKind.LAUNCH:
            attributes: dict[str, str | int] = {URL: self._address(event.key), PREDICTOR: event.predictor}
            attributes |= {RANK: event.rank, TURN: event.turn}
            span = self._begin("load ahead", event.at_seconds, attributes)
            self._loads[event.key] = span
            self._contexts.pop(event.key, None)  # and in again, as the latest
            self._contexts[event.key] = span.get_span_context()
            if len(self._contexts) > _MAX_LINKED:
                del self._contexts[next(iter(self._contexts))]
        elif event.kind in LOAD_OUTCOMES:
            size = {SIZE: event.size_bytes} if event.size_bytes else {}
            self._loaded(event.key, LOAD_OUTCOMES[event.kind], event.at_seconds, size)
        elif event.kind in STEP_KINDS:
            self._step = event
            if self._run is None:
                address = self._address(event.key)
                self._page(event.at_seconds, event.waited_seconds, event.action, {URL: address} if address else {})

    def _loaded(self, key: str, outcome: str, at_seconds: float, attributes: Attributes) -> None:
        span = self._loads.pop(key, None)
        if span is None:
            return
        span.set_attributes({OUTCOME: outcome, **attributes})
        if outcome == "failed":
            _failed(span, _OTHER)
        span.end(self._nanoseconds(at_seconds))

    def _observed(self, event: Observed) -> None:
        attributes: dict[str, str | int | float | bool] = {TURN: event.turn, READINESS: str(event.readiness)}
        address = shown_address(self._mask(event.url), content=self._content)
        attributes |= {URL: address} if address else {}
        attributes |= {HTTP_STATUS: event.status} if event.status is not None else {}
        attributes |= self._said({TITLE: event.title})
        self._page(event.at_seconds, event.seconds, event.action, attributes, failed=event.problem is not None)

    def _page(
        self, at_seconds: float, waited_seconds: float, action: str, attributes: Attributes, *, failed: bool = False
    ) -> None:
        step, self._step = self._step, None
        told: dict[str, str | float] = {RESULT: str(step.kind) if step else UNCACHED, ACTION: action_kind(action)}
        told[WAITED] = waited_seconds
        span = self._begin("open page", at_seconds - waited_seconds, {**attributes, **told})
        served = step is not None and step.kind in (EventKind.HIT, EventKind.JOIN)
        if step is not None and served and step.key in self._contexts:
            span.add_link(self._contexts[step.key])
        if failed:
            _failed(span, _OTHER)
        span.end(self._nanoseconds(at_seconds))

    def _begin(
        self,
        name: str,
        at_seconds: float,
        attributes: Attributes,
        *,
        parent: Span | None = None,
        kind: SpanKind = SpanKind.INTERNAL,
    ) -> Span:
        above = parent or self._run
        return self._tracer.start_span(
            name,
            context=set_span_in_context(above) if above is not None else None,
            kind=kind,
            attributes=attributes,
            start_time=self._nanoseconds(at_seconds),
        )

    def _address(self, key: str) -> str:
        """Return the address at the beginning of the key that the cache knows a page by."""
        return shown_address(self._mask(key.partition(" ")[0]), content=self._content)

    def _said(self, texts: Mapping[str, str]) -> dict[str, str]:
        return {name: self._mask(text) for name, text in texts.items()} if self._content else {}

    def _nanoseconds(self, at_seconds: float) -> int:
        return round((self._epoch_seconds + at_seconds) * 1e9)


def _failed(span: Span, error: str) -> None:
    span.set_attribute(ERROR_TYPE, error)
    span.set_status(Status(StatusCode.ERROR))


def _messages(role: str, text: str) -> str:
    """Write a message as the conventions do."""
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}], ensure_ascii=False)
