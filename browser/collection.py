"""Keeping the collector of cyclic garbage quiet while pages are rendered.

A parse tree is so many objects that it brings on full collections, and one of those stops every thread for as long as
it takes to go through all objects of the process. Renderers take their trees apart by hand instead.

Invariant: when the last one has finished, the collector is as it was before the first began.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class CollectionPause:
    """A pause that any number of holders, in any threads, may share."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._was_on = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep the collector off until the block ends."""
        with self._lock:
            if self._holders == 0:
                self._was_on = gc.isenabled()
                gc.disable()
            self._holders += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if self._holders == 0 and self._was_on:
                    gc.enable()


collection_pause = CollectionPause()
"""The one of this process, since it has one collector."""
