"""Telling what happens behind the calls to one model.

Invariant: nothing behind a call happens silently; whoever does it tells it here, at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from agent.events import Call, CallKind

CallListener = Callable[[Call], None]


class CallLog:
    """Tells a listener what happens behind the calls to one model in one role.

    Args:
        listener: Whom to tell.
        role: What the model is there for.
        model: The model, with its provider's name where it has one.
        server: The endpoint's host and port.
        clock: Where the time comes from, in seconds; the one of the run's other events.
    """

    def __init__(
        self,
        listener: CallListener = lambda _: None,
        *,
        role: str = "target",
        model: str = "",
        server: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._listener = listener
        self._role = role
        self._model = model
        self._server = server
        self._clock = clock

    def now(self) -> float:
        """Return the time of the events, in seconds."""
        return self._clock()

    def tell(self, kind: CallKind, *, reason: str = "", seconds: float = 0.0) -> None:
        """Tell what is done about a call."""
        self.pass_on(self.event(kind, reason=reason, seconds=seconds))

    def event(self, kind: CallKind, *, reason: str = "", seconds: float = 0.0) -> Call:
        """Return the event of something that happens now."""
        return Call(
            at_seconds=self._clock(),
            kind=kind,
            role=self._role,
            model=self._model,
            server=self._server,
            reason=reason,
            seconds=seconds,
        )

    def pass_on(self, call: Call) -> None:
        """Tell an event."""
        self._listener(call)
