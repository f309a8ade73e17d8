"""Reads that are sure to be called, begun before they are: a model's reply may name one long before the reply ends.

Invariant: a run that was begun here serves one call at most, and only under the key that it was begun for; one that
fails serves none, and is told, never raised.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any

from speccache.errors import Unspeculable
from speccache.events import Event, EventKind, Listener
from speccache.second_level import Found
from speccache.tool_environment import Result, ToolCall, ToolEnvironment

_LEVEL = "expected"
_MAX_RUNS = 64


@dataclass(slots=True, kw_only=True, eq=False)
class _Run:
    call: ToolCall
    key: Hashable
    started_seconds: float
    ended_seconds: float = 0.0
    ran_seconds: float = 0.0
    task: asyncio.Task[Result] = field(init=False)
    joined: bool = False

    @property
    def seconds(self) -> float:
        return self.ended_seconds - self.started_seconds

    @property
    def failed(self) -> bool:
        return self.task.cancelled() or self.task.exception() is not None


class ExpectedCalls:
    """A second level for `SpeculativeEnvironment` that holds what was begun here, and keeps nothing else.

    Args:
        tools: Where reads are run.
        max_age_seconds: How long a result is usable.
        listener: Called with every event, those of the environment too: give it `told`.
        close_seconds: How long closing waits for cancelled runs.
        clock: Where the time comes from, in seconds.

    Resource handling: owns its runs; close it with `aclose()`.
    """

    patience_seconds = 86_400.0
    """It is the call itself that is waited for, which may take as long as it takes."""

    def __init__(
        self,
        tools: ToolEnvironment,
        *,
        max_age_seconds: float,
        listener: Listener,
        close_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tools = tools
        self._max_age_seconds = max_age_seconds
        self._listener = listener
        self._close_seconds = close_seconds
        self._clock = clock
        self._runs: dict[Hashable, _Run] = {}
        self._ending: set[asyncio.Task[Result]] = set()
        self._served: _Run | None = None
        self._turn = 0
        self._closed = False

    def begin(self, call: ToolCall) -> bool:
        """Run a read ahead, unless it runs already.

        Returns:
            Whether it runs; not where it is no read, where very many run already, and once this is closed.
        """
        key = self._tools.key(call)
        if key is None or self._closed:
            return False
        if key in self._runs:
            return True
        self._drop_outdated()
        if len(self._runs) >= _MAX_RUNS:
            return False
        run = self._runs[key] = _Run(call=call, key=key, started_seconds=self._clock())
        run.task = asyncio.create_task(self._peek(run), name=f"expect {call}")
        run.task.add_done_callback(lambda _: self._ended(run))
        self._tell(EventKind.LAUNCH, run)
        return True

    async def _peek(self, run: _Run) -> Result:
        try:
            # The state, and the caller's own arguments, may have changed since; no other task runs before the peek's
            # first await, so that what it reads is what the key names.
            if self._tools.key(run.call) != run.key:
                raise Unspeculable("moved-on")
            return await self._tools.peek(run.call)
        finally:
            run.ended_seconds = self._clock()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._runs

    def _drop_outdated(self) -> None:
        """Drop what cannot be served any more: it is too old, or its call has another key now."""
        for run in [run for run in self._runs.values() if self._is_outdated(run)]:
            self._drop(run)

    def _is_outdated(self, run: _Run) -> bool:
        too_old = run.task.done() and self._remaining_seconds(run) <= 0
        return too_old or self._tools.key(run.call) != run.key

    def _remaining_seconds(self, run: _Run) -> float:
        return 0.0 if run.failed else run.ended_seconds + self._max_age_seconds - self._clock()

    def _drop(self, run: _Run) -> None:
        del self._runs[run.key]
        self._end(run)

    def _end(self, run: _Run) -> None:
        if not run.task.done():
            run.task.cancel()
            self._ending.add(run.task)
            run.task.add_done_callback(self._ending.discard)

    def _ended(self, run: _Run) -> None:
        if run.task.cancelled():
            self._tell(EventKind.CANCEL, run, reason="not-needed")
            return
        match run.task.exception():
            case None:
                self._tell(EventKind.LOAD, run, seconds=run.seconds)
            case Unspeculable() as refusal:
                self._tell(EventKind.REFUSE, run, reason=refusal.reason)
            case error:
                self._tell(EventKind.FAIL, run, reason=f"{type(error).__name__}: {error}")

    async def get(self, key: Hashable, /) -> Found[Result] | None:
        """Return what was begun under the key, once it is there; None where there is nothing, or nothing to use."""
        run = self._runs.pop(key, None)
        if run is None:
            return None
        run.joined = not run.task.done()
        run.ran_seconds = self._clock() - run.started_seconds
        try:
            await asyncio.wait([run.task])
        finally:
            self._end(run)  # nobody else waits for it
        remaining_seconds = self._remaining_seconds(run)
        if remaining_seconds <= 0:
            return None
        self._served = run
        return Found(value=run.task.result(), remaining_seconds=remaining_seconds, level=_LEVEL)

    def put(self, key: Hashable, value: Result, /) -> None:
        """Keep nothing: each result serves its own call."""

    def told(self, event: Event) -> None:
        """Hand on an event of the environment; one of a call that was served from here says how long that had run."""
        self._turn = event.turn
        run = self._served
        if run is not None and event.kind is EventKind.HIT and event.reason == _LEVEL and event.key == str(run.key):
            self._served = None
            seconds = run.ran_seconds + event.waited_seconds if run.joined else run.seconds
            event = replace(event, kind=EventKind.JOIN if run.joined else EventKind.HIT, seconds=seconds)
        self._listener(event)

    def _tell(self, kind: EventKind, run: _Run, **facts: Any) -> None:
        event = Event(kind=kind, at_seconds=self._clock(), turn=self._turn, action=str(run.call), key=str(run.key))
        self._listener(replace(event, predictor=_LEVEL, **facts))

    async def aclose(self) -> None:
        """Cancel all runs and wait for them, `close_seconds` at most; may be called twice."""
        self._closed = True
        for run in list(self._runs.values()):
            self._drop(run)
        if self._ending:
            await asyncio.wait(self._ending, timeout=self._close_seconds)

    def __repr__(self) -> str:
        return f"<ExpectedCalls {len(self._runs)}>"
