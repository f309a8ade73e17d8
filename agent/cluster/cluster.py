"""The cluster: which one, how many workers, and joining it.

Invariant: Ray, an extra, is imported only where a cluster is joined.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.cluster.errors import ClusterUnusable

if TYPE_CHECKING:
    from agent.cluster.ray_worker import RayWorker

_CPUS_A_WORKER = 2  # one browser process loads for the target while another loads ahead
_INSTALL = "Install it on every machine with: pip install 'speccache[ray]'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Which cluster, and how much of it.

    Attributes:
        address: As `ray.init` takes it, `HOST:PORT` or `auto`; None: the one this process is part of, else
            `RAY_ADDRESS`, else one is started here.
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
        """Be part of it while the block runs; several blocks of a process are part of one together.

        Cancellation: joining cannot be interrupted: it is waited for, then undone.

        Raises:
            ClusterUnusable: Ray is not installed, the cluster cannot be joined, or this process is part of another.
        """
        try:
            from agent.cluster.membership import MEMBERSHIP  # noqa: PLC0415 - imports Ray
        except ImportError as error:
            raise ClusterUnusable(
                f"a cluster needs a package that is not there: {error.name}", hint=_INSTALL
            ) from error
        async with MEMBERSHIP.held(self.address) as processors:
            yield JoinedCluster(cluster=self, workers=self.workers or max(1, processors // _CPUS_A_WORKER))


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedCluster:
    """A cluster that this process is part of.

    Attributes:
        cluster: Which.
        workers: How many there are to be.
    """

    cluster: Cluster
    workers: int

    def worker(self, *, at_once: int) -> RayWorker[Any, Any]:
        """Ask for a worker; it may be long until there is one.

        Args:
            at_once: How many tasks it will be given at once.
        """
        from agent.cluster.ray_worker import RayWorker  # noqa: PLC0415 - imports Ray

        return RayWorker(grace_seconds=self.cluster.grace_seconds, at_once=at_once)
