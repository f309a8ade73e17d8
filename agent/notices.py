"""What happens beside a run and concerns it, such as a shared cache that is lost: told in the run's own events.

Invariant: nothing is told before the run has begun; what was known by then is told first.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from agent.events import Notice, RunEvent, RunListener, Started


class Notices:
    """The notices of one run, put between its other events.

    Args:
        listener: Told of all events.
        clock: The run's clock.
    """

    def __init__(self, listener: RunListener, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._listener = listener
        self._clock = clock
        self._has_begun = False
        self.texts: list[str] = []
        """What was to be told so far."""

    def __call__(self, event: RunEvent) -> None:
        """Pass an event of the run on."""
        self._listener(event)
        if isinstance(event, Started) and not self._has_begun:
            self._has_begun = True
            for text in self.texts:
                self._tell(text)

    def notice(self, text: str) -> None:
        """Tell something, a sentence for a person."""
        self.texts.append(text)
        if self._has_begun:
            self._tell(text)

    def _tell(self, text: str) -> None:
        self._listener(Notice(at_seconds=self._clock(), text=text))
