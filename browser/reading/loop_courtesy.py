"""What the interpreter does for the event loop's sake while pages are rendered in threads beside it.

A parse tree is so many objects that it brings on full collections, and one of those stops every thread for as long as
it takes to go through all objects of the process: the collector is off meanwhile, and renderers take their trees apart
by hand. And a thread keeps the interpreter for five milliseconds at a time, however short the loop's turn would be that
waits for it: meanwhile it is asked for sooner.

Invariant: when the last rendering has finished, the interpreter is as it was before the first began.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_TURN_SECONDS = 0.0005
_LONGEST_SECONDS = 5.0
"""After how long without a gap what is new is collected all the same."""


class LoopCourtesy:
    """A state of the interpreter that any number of holders, in any threads, may share."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._collected = False
        self._turn_seconds = 0.0
        self._since_seconds = 0.0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep the collector off and turns short until the block ends."""
        with self._lock:
            if self._holders == 0:
                self._begin()
            self._holders += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if self._holders == 0:
                    self._end()
                elif self._collected and time.monotonic() - self._since_seconds > _LONGEST_SECONDS:
                    self._since_seconds = time.monotonic()
                    gc.collect(0)  # under a load without a gap nobody else would

    def _begin(self) -> None:
        self._collected, self._since_seconds = gc.isenabled(), time.monotonic()
        self._turn_seconds = sys.getswitchinterval()
        gc.disable()
        sys.setswitchinterval(min(_TURN_SECONDS, self._turn_seconds))

    def _end(self) -> None:
        sys.setswitchinterval(self._turn_seconds)
        if self._collected:
            gc.enable()


loop_courtesy = LoopCourtesy()
"""The one of this process, since it has one interpreter."""
