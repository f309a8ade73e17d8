"""Everything that can go wrong in this package.

```
AgentError
├── ConfigurationError     a flag, a setting or a file is wrong; nothing was started
├── ModelError             a model could not be used
│   ├── ModelUnreachable   no connection, or it timed out, after the retries
│   ├── ModelRefused       it answered that the request, the key or the model's name is wrong
│   ├── ModelUnreadable    it answered, but not with anything that can be read as a reply
│   └── LocalModelMissing  the local model's weights, or what runs them, are not on this machine
└── TraceUnwritable        the trace file cannot be written
```
"""

from __future__ import annotations


class AgentError(Exception):
    """Base of this package's errors.

    Attributes:
        hint: What a person can do next, in a sentence; empty where there is nothing.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class ConfigurationError(AgentError):
    """A flag, a setting or a file is wrong."""


class ModelError(AgentError):
    """A model could not be used."""


class ModelUnreachable(ModelError):
    """The endpoint did not answer in time, after the retries."""


class ModelRefused(ModelError):
    """The endpoint answered that the request, the key or the model's name is wrong."""


class ModelUnreadable(ModelError):
    """The endpoint answered with something that is no reply of a chat model."""


class LocalModelMissing(ModelError):
    """The local model's weights, or the package that runs them, are not on this machine or not as expected."""


class TraceUnwritable(AgentError):
    """The trace file cannot be written."""
