"""This process's part in a cluster, of which Ray allows it one at a time, however many runs need it.

Invariant: the first who needs a cluster joins it and the last one out leaves it, which ends it where it was started
here; one that somebody else in this process has joined stays. Nothing of a run is in Ray's runtime environment, and Ray
sends no usage statistics from a cluster started here.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from threading import Lock, current_thread, main_thread
from typing import Any

import ray
from ray._private import worker
from ray.exceptions import RayError

from agent.cluster.errors import ClusterUnusable

logger = logging.getLogger(__name__)

_STORE_BYTES = 100 * 2**20  # outcomes are small, and Ray would set a third of the memory aside
_KNOCK_SECONDS = 5.0
_resources: Callable[[], Mapping[str, float]] = ray.cluster_resources  # which has no types
_internals: Any = worker
_print = _internals.print_to_stdstream


class Membership:
    """Joins and leaves; the process has one for all its event loops: `MEMBERSHIP`."""

    def __init__(self) -> None:
        self._lock = Lock()  # of threads, since joining and leaving wait in threads
        self._users = 0
        self._address = ""  # of the cluster that was joined here; empty: none was

    @asynccontextmanager
    async def held(self, address: str | None) -> AsyncIterator[int]:
        """Be part of a cluster while the block runs; gives the number of its processors.

        Args:
            address: As `ray.init` takes it; None: the one this process is part of, `RAY_ADDRESS`, or a new one.

        Cancellation: Ray cannot be interrupted, so joining and leaving are waited for.

        Raises:
            ClusterUnusable: It cannot be joined, or this process is part of another.
        """
        entered = False

        def enter() -> None:
            nonlocal entered
            self._enter(address)
            entered = True

        try:
            await _to_its_end(enter)
            yield int(_resources().get("CPU", 0))
        finally:
            if entered:
                await _to_its_end(self._leave)

    def _enter(self, address: str | None) -> None:
        with self._lock:
            if not ray.is_initialized():
                wanted = address or os.environ.get("RAY_ADDRESS") or "local"
                _join(wanted)
                self._address = wanted
            elif address not in (None, "auto", part_of := self._address or ray.get_runtime_context().gcs_address):
                raise ClusterUnusable(
                    f"this process is part of the Ray cluster at {part_of}: it cannot join {address} as well",
                    hint="Ask on one after the other, or in two processes.",
                )
            self._users += 1

    def _leave(self) -> None:
        with self._lock:
            self._users -= 1
            if not self._users and self._address:
                self._address = ""
                ray.shutdown()
                _internals.print_to_stdstream = _print


MEMBERSHIP = Membership()


async def _to_its_end(work: Callable[[], None]) -> None:
    """Have something done in a thread, which leaves the loop free; a cancellation is raised once it is done."""
    done = asyncio.get_running_loop().run_in_executor(None, work)
    cancelled: asyncio.CancelledError | None = None
    while not done.done():
        try:
            await asyncio.wait([done])
        except asyncio.CancelledError as error:
            cancelled = error
    _take_sigterm_back()
    if cancelled is not None:
        done.exception()  # else asyncio warns that nobody asked
        raise cancelled
    done.result()


def _take_sigterm_back() -> None:
    """React to SIGTERM as before: joining, Ray makes the process abort on it, and leaving, forget who handles it."""
    handler = signal.getsignal(signal.SIGTERM)
    if handler is not None and current_thread() is main_thread():
        signal.signal(signal.SIGTERM, handler)


def _join(address: str) -> None:
    # It would warn of what is as it should be here: that it is not the main thread, and that a token was made.
    logging.getLogger("ray").setLevel(logging.ERROR)
    quiet: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    if address == "local":
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        quiet |= {"include_dashboard": False, "object_store_memory": _STORE_BYTES}
    try:
        _knock(address)
        ray.init(address, **quiet)
        # It prints what befalls workers on standard output, which is for data, and has no setting for that.
        _internals.print_to_stdstream = _log
    # Ray raises whatever it came upon; a wrong address alone gives three kinds of error.
    except (RuntimeError, ValueError, OSError, RayError) as error:
        ray.shutdown()  # what it had started by then
        raise ClusterUnusable(
            f"the Ray cluster at {address} cannot be joined: {error}",
            hint="Check that it runs (`ray status`), the same Python, Ray, RAY_AUTH_MODE and token.",
        ) from error


def _log(said: Any, *_: object, **__: object) -> None:
    logger.info("Ray: %s", " ".join(said["lines"]))


def _knock(address: str) -> None:
    """Make sure that somebody is there: where nobody is, Ray waits for minutes, and cannot be interrupted.

    Raises:
        OSError: Nobody is.
    """
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_SECONDS).close()
