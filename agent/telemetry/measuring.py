"""From the events of a run to measurements.

Invariant: every step, every request to a model and every load that ended is measured exactly once, so that the counts
are those of the run's own account.
"""

from __future__ import annotations

from collections.abc import Callable

from agent.events import Call, CallKind, Finished, Observed, RunEvent, Started
from agent.telemetry.facts import call_attributes
from agent.telemetry.instruments import (
    CALL_DURATION,
    ERROR_TYPE,
    EXPOSED,
    KIND,
    LOADS,
    MODE,
    OUTCOME,
    RESULT,
    RUNS,
    STATUS,
    STEPS,
    TOKEN_TYPE,
    TOKENS,
    WASTED,
    Instrument,
    Measurement,
)
from speccache.account import Account
from speccache.events import Event, EventKind

STEP_KINDS = frozenset({EventKind.HIT, EventKind.JOIN, EventKind.MISS, EventKind.DIRECT})
LOAD_OUTCOMES = {
    EventKind.LOAD: "stored",
    EventKind.REFUSE: "refused",
    EventKind.FAIL: "failed",
    EventKind.CANCEL: "cancelled",
}
UNCACHED = "uncached"
_REQUEST_ENDS = (CallKind.REPLY, CallKind.FAIL, CallKind.DROP)

Sink = Callable[[Measurement], None]


class Measuring:
    """A listener that measures one run, or one session of an MCP client, which is a run without a target.

    Args:
        sink: Where measurements go.
        mode: The mode of a suite that the run is in; empty: none.

    Resource handling: `close()` it once all its events were told; only then is it known what was wasted.
    """

    def __init__(self, sink: Sink, *, mode: str = "") -> None:
        self._sink = sink
        self._mode: dict[str, str | int] = {MODE: mode} if mode else {}
        self._account = Account()
        self._loading: set[str] = set()
        self._in_run = False
        self._step: Event | None = None

    def __call__(self, event: RunEvent) -> None:
        """Measure one event."""
        match event:
            case Started():
                self._in_run = True
            case Event():
                self._happened(event)
            case Observed():
                self._observed(event)
            case Call() if event.kind in _REQUEST_ENDS:
                self._called(event)
            case Finished():
                self._tell(RUNS, 1, {STATUS: event.status, **self._mode})

    def close(self) -> None:
        """Count what was wasted; may be called twice."""
        account, self._account = self._account, Account()
        if account.wasted:
            self._tell(WASTED, account.wasted, self._mode)

    def _happened(self, event: Event) -> None:
        self._account(event)
        if event.kind is EventKind.LAUNCH:
            self._loading.add(event.key)
        elif event.kind in LOAD_OUTCOMES and event.key in self._loading:
            self._loading.discard(event.key)
            self._tell(LOADS, 1, {KIND: "ahead", OUTCOME: LOAD_OUTCOMES[event.kind], **self._mode})
        elif event.kind in STEP_KINDS:
            self._step = event
            if not self._in_run:
                self._stepped(event.kind, event.waited_seconds)

    def _observed(self, event: Observed) -> None:
        step, self._step = self._step, None
        if step is not None:
            self._stepped(step.kind, event.seconds)
        elif event.seconds:  # an action that the loop does not repeat is no step, and takes no time at all
            self._stepped(UNCACHED, event.seconds)

    def _stepped(self, result: str, seconds: float) -> None:
        told: dict[str, str | int] = {RESULT: str(result), **self._mode}
        self._tell(STEPS, 1, told)
        self._tell(EXPOSED, seconds, told)
        if result in (EventKind.MISS, UNCACHED):
            self._tell(LOADS, 1, {KIND: "real", OUTCOME: "loaded", **self._mode})

    def _called(self, call: Call) -> None:
        told = call_attributes(call)
        self._tell(CALL_DURATION, call.seconds, {**told, **({ERROR_TYPE: call.error} if call.error else {})})
        if call.kind is CallKind.REPLY and call.usage is not None:
            self._tell(TOKENS, call.usage.input_tokens, told | {TOKEN_TYPE: "input"})
            self._tell(TOKENS, call.usage.output_tokens, told | {TOKEN_TYPE: "output"})

    def _tell(self, instrument: Instrument, value: float, attributes: dict[str, str | int]) -> None:
        self._sink(Measurement(instrument=instrument, value=value, attributes=attributes))
