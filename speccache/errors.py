"""What this package raises.

```
SpecCacheError
└── Unspeculable   a peek must not be kept: raised by an environment, counted, never seen by the target
```
"""

from __future__ import annotations


class SpecCacheError(Exception):
    """Base of this package's errors."""


class Unspeculable(SpecCacheError):
    """The observation of a peek must not be kept, or the peek must not be made.

    Attributes:
        reason: A short, stable word or phrase by which refusals are counted (`"sets-cookie"`, `"off-site"`).
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
