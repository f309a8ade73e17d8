"""What can go wrong with a cluster, apart from the work itself.

```
AgentError (agent.errors)
└── ClusterError
    ├── ClusterUnusable   Ray is not installed, the cluster cannot be joined, or no worker of it can begin
    │                     (a ConfigurationError, too)
    └── WorkerLost        a worker died, or its machine did; its work goes to another
```
"""

from __future__ import annotations

from agent.errors import AgentError, ConfigurationError


class ClusterError(AgentError):
    """Base of this package's errors."""


class ClusterUnusable(ClusterError, ConfigurationError):
    """Ray is not installed, the cluster cannot be joined, or no worker of it can begin."""


class WorkerLost(ClusterError):
    """A worker died, or its machine did; its work goes to another."""
