"""What can go wrong with a run of a suite, apart from its questions.

```
ConfigurationError (agent.errors)
└── RunsUnusable     the folder of results cannot be read, written or gone on with
```
"""

from __future__ import annotations

from agent.errors import ConfigurationError


class RunsUnusable(ConfigurationError):
    """The folder of results cannot be read, written or gone on with."""
