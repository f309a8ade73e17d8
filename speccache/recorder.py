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
        self._observed_seconds: float | None = None
        self._thought_seconds = 0.0
        self.turn = 0
        """How many steps the target has taken."""

    def now(self) -> float:
        """Return the time, in seconds."""
        return self._clock()

    def decided(self) -> None:
        """The target's next action is known: what passed since its last observation was its thinking."""
        if self._observed_seconds is not None:
            self._thought_seconds = self._clock() - self._observed_seconds

    def observed(self) -> None:
        """The target has its observation; a new turn begins."""
        self.turn += 1
        self._observed_seconds = self._clock()

    def record(
        self,
        kind: EventKind,
        action: object,
        *,
        key: Hashable | None = None,
        predictor: str = "",
        rank: int = 0,
        depth: int = 0,
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
                depth=depth,
                reason=reason,
                seconds=seconds,
                waited_seconds=waited_seconds,
                thought_seconds=self._thought_seconds,
                size_bytes=size_bytes,
            )
        )
