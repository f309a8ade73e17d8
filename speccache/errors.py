"""What this package raises.

```
SpecCacheError
├── InvalidCall    a call names no tool, or arguments that are not the tool's
└── Unspeculable   a peek must not be kept: raised by an environment, counted, never seen by the target
```
"""

from __future__ import annotations


class SpecCacheError(Exception):
    """Base of this package's errors."""


class InvalidCall(SpecCacheError):
    """There is no tool of that name, or it does not take these arguments; nothing was run."""


class Unspeculable(SpecCacheError):
    """The observation of a peek must not be kept, or the peek must not be made.

    Attributes:
        reason: A short, stable word or phrase by which refusals are counted (`"sets-cookie"`, `"off-site"`).
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
