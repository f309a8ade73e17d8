"""What the demo site raises.

```
SiteError
├── PortUnavailable   the server cannot listen where it was told to
└── QuestionsInvalid  a file of questions cannot be used
```
"""

from __future__ import annotations


class SiteError(Exception):
    """Base of this package's errors.

    Attributes:
        hint: What a person can do next, in a sentence; empty where there is nothing.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class PortUnavailable(SiteError):
    """The server cannot listen on this address: taken, not permitted, or not this machine's."""


class QuestionsInvalid(SiteError):
    """A file of questions cannot be read, or a line of it is no question."""
