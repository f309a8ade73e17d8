"""Work spread over the machines of a Ray cluster: questions of a library's user, and those of `evals`.

Ray is an extra, and imported only where a cluster is joined.
"""

from agent.cluster.actor import Seat
from agent.cluster.ask_many import ask_many
from agent.cluster.cluster import Cluster
from agent.cluster.errors import ClusterError, ClusterUnusable, WorkerLost
from agent.cluster.fan_out import FanOut, Finished
from agent.cluster.opening import Opening, Work

__all__ = [
    "Cluster",
    "ClusterError",
    "ClusterUnusable",
    "FanOut",
    "Finished",
    "Opening",
    "Seat",
    "Work",
    "WorkerLost",
    "ask_many",
]
