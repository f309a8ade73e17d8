"""What can go wrong before a question is asked.

```
ConfigurationError (agent.errors)
└── SuiteError
    ├── ItemsInvalid        a file of questions cannot be read, or a row of it is no question
    ├── SelectionInvalid    what was asked for leaves no question, or names a value that none has
    ├── DatasetUnavailable  a dataset could not be had from the hub, or what came is not the expected file
    └── SiteMissing         a site that questions are about does not lie where it should
```
"""

from __future__ import annotations

from agent.errors import ConfigurationError


class SuiteError(ConfigurationError):
    """Base of this package's errors; a command tells them, with their hints, as it does all of configuration."""


_MEND = "Mend it there; docs/suites.md says what each field holds."


class ItemsInvalid(SuiteError):
    """A file of questions cannot be read, or a row of it is no question; the message names file, row and field."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint or _MEND)


class SelectionInvalid(SuiteError):
    """What was asked for leaves no question, or names a value that no question has."""


class DatasetUnavailable(SuiteError):
    """A dataset could not be had from the hub, or what came is not the expected file."""


class SiteMissing(SuiteError):
    """A site that questions are about does not lie where it should, or a question does not say which it is about."""
