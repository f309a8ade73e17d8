"""The cluster: which one, how many workers, and joining it.

Invariant: a cluster that was started here ends here; one that was there, or joined by somebody else in this process,
stays. Nothing of a run is in Ray's runtime environment, and Ray sends no usage statistics from a cluster started here.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from agent.cluster.errors import ClusterUnusable

if TYPE_CHECKING:
    from agent.cluster.ray_worker import RayWorker

_CPUS_A_WORKER = 2  # one browser process loads for the target while another loads ahead
_STORE_BYTES = 100 * 2**20  # outcomes are small, and Ray would set a third of the memory aside
_KNOCK_SECONDS = 5.0
_INSTALL = "Install it on every machine with: pip install 'speccache[ray]'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Which cluster, and how much of it.

    Attributes:
        address: As `ray.init` takes it: `HOST:PORT`, `auto`, `ray://…`; None: `RAY_ADDRESS`, else one is started here.
        workers: Processes with a pool of browsers each; None: one for every two processors of the cluster.
        start_seconds: How long a worker may take to begin; a cluster that grows by itself needs minutes.
        grace_seconds: How long a worker may take to close its browsers.
    """

    address: str | None = None
    workers: int | None = None
    start_seconds: float = 300.0
    grace_seconds: float = 10.0

    @asynccontextmanager
    async def joined(self) -> AsyncIterator[JoinedCluster]:
        """Be part of it while the block runs.

        Raises:
            ClusterUnusable: Ray is not installed, or the cluster cannot be joined.
        """
        try:
            import ray  # noqa: PLC0415 - needs the extra `ray`
        except ImportError as error:
            raise ClusterUnusable(
                f"a cluster needs a package that is not there: {error.name}", hint=_INSTALL
            ) from error
        if ray.is_initialized():
            yield JoinedCluster(self, ray)
            return
        # In a thread it waits for the cluster without holding up the loop, and leaves SIGTERM to the command line.
        await asyncio.to_thread(self._init, ray)
        try:
            yield JoinedCluster(self, ray)
        finally:
            await asyncio.to_thread(ray.shutdown)

    def _init(self, ray: Any) -> None:
        # It would warn of what is as it should be here: that it is not the main thread, and that a token was made.
        logging.getLogger("ray").setLevel(logging.ERROR)
        address = self.address or os.environ.get("RAY_ADDRESS") or "local"
        quiet: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
        if address == "local":
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            quiet |= {"include_dashboard": False, "object_store_memory": _STORE_BYTES}
        try:
            _knock(address)
            ray.init(address, **quiet)
        # Ray raises whatever it came upon; a wrong address alone gives three kinds of error.
        except (RuntimeError, ValueError, OSError, ray.exceptions.RayError) as error:
            raise ClusterUnusable(
                f"the Ray cluster at {address} cannot be joined: {error}",
                hint="Check that it runs (`ray status`), that Python and Ray are the same there, and its token.",
            ) from error


def _knock(address: str) -> None:
    """Make sure that somebody is there: where nobody is, Ray waits for minutes, and cannot be interrupted.

    Raises:
        OSError: Nobody is.
    """
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_SECONDS).close()


class JoinedCluster:
    """A cluster that this process is part of.

    Args:
        cluster: Which.
        ray: The module.
    """

    def __init__(self, cluster: Cluster, ray: Any) -> None:
        self.cluster = cluster
        self._ray = ray

    @cached_property
    def workers(self) -> int:
        """How many workers there are to be."""
        cpus = self._ray.cluster_resources().get("CPU", 0)
        return self.cluster.workers or max(1, int(cpus // _CPUS_A_WORKER))

    def worker(self, *, at_once: int) -> RayWorker[Any, Any]:
        """Ask for a worker; it may be long until there is one.

        Args:
            at_once: How many tasks it will be given at once.
        """
        from agent.cluster.ray_worker import RayWorker  # noqa: PLC0415 - imports Ray

        return RayWorker(grace_seconds=self.cluster.grace_seconds, at_once=at_once)
