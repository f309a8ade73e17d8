"""Limits that hold for all workers together, shared out among them.

Invariant: what all workers together may do in a minute is never more than one process would have been allowed.
"""

from __future__ import annotations

from agent.cluster.errors import ClusterUnusable
from agent.settings import Settings


def share_of(settings: Settings, workers: int) -> Settings:
    """Return the settings of one of so many workers: rates of requests to models and hosts are divided.

    Raises:
        ClusterUnusable: A model may be called less than once a minute by each.
    """
    calls = settings.model_calls
    shared: dict[str, object] = {}
    if isinstance(calls, int):
        shared["model_calls"] = _divided(calls, workers)
    elif calls is not None:
        shared["model_calls"] = {name: _divided(number, workers) for name, number in calls.items()}
    if settings.host_rate is not None:
        shared["host_rate"] = settings.host_rate / workers
    return settings.model_copy(update=shared)


def _divided(calls: int, workers: int) -> int:
    if calls < workers:
        raise ClusterUnusable(
            f"{calls} model calls a minute cannot be shared by {workers} workers",
            hint=f"Take at most {calls} workers, or raise model_calls.",
        )
    return calls // workers
