"""Where events are made: one clock, one turn counter, one way out.

Invariant: a listener's events come in the order in which they happened.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable

from speccache.events import Event, EventKind, Listener


class Recorder:
    """Stamps events and hands them to a listener.

    Args:
        listener: Called with every event, on the event loop; must be quick and must not raise.
        clock: Where the time comes from, in seconds.
    """

    def __init__(self, listener: Listener | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._listener = listener
        self._clock = clock
        self.turn = 0
        """How many steps the target has taken."""

    def now(self) -> float:
        """Return the time, in seconds."""
        return self._clock()

    def record(
        self,
        kind: EventKind,
        action: object,
        *,
        key: Hashable | None = None,
        predictor: str = "",
        rank: int = 0,
        reason: str = "",
        seconds: float = 0.0,
        waited_seconds: float = 0.0,
        size_bytes: int = 0,
    ) -> None:
        """Make an event of now and this turn."""
        if self._listener is None:
            return
        self._listener(
            Event(
                kind=kind,
                at_seconds=self._clock(),
                turn=self.turn,
                action=str(action),
                key="" if key is None else str(key),
                predictor=predictor,
                rank=rank,
                reason=reason,
                seconds=seconds,
                waited_seconds=waited_seconds,
                size_bytes=size_bytes,
            )
        )
