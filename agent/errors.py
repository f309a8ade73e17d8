"""Everything that can go wrong in this package.

```
AgentError
├── ActionUnreadable       a text is no action of BrowserGym's, or none there is here
├── ConfigurationError     a flag, a setting or a file is wrong; nothing was started
│   └── TraceUnreadable    a file is no trace, or none that this version can read
├── ModelError             a model could not be used
│   ├── ModelUnreachable   no connection, or the endpoint could not answer now; trying again may help
│   │   ├── ModelLate      it took too long and was given up
│   │   └── ModelPaused    it failed so often in a row that it is left alone for a while
│   ├── ModelRefused       it answered that the request, the key or the model's name is wrong
│   ├── ModelUnreadable    it answered, but not with anything that can be read as a reply
│   └── LocalModelMissing  the local model's weights, or what runs them, are not on this machine
├── TraceUnwritable        the trace, or what is made of it, cannot be written
└── ToolRefused            what a client asked a tool of the MCP server for cannot be done
    └── ServerBusy         it serves as many clients as it may
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


class ActionUnreadable(AgentError):
    """A text is no action of BrowserGym's, or none there is here."""


class ConfigurationError(AgentError):
    """A flag, a setting or a file is wrong."""


class TraceUnreadable(ConfigurationError):
    """A file is no trace, or none that this version can read."""


class ModelError(AgentError):
    """A model could not be used."""


class ModelUnreachable(ModelError):
    """There is no connection, or the endpoint could not answer now.

    Attributes:
        retry_after_seconds: How long the endpoint asks to be left alone; None where it does not say.
    """

    def __init__(self, message: str, *, hint: str = "", retry_after_seconds: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_seconds = retry_after_seconds


class ModelLate(ModelUnreachable):
    """The endpoint took too long, and the request was given up; it may be billed all the same."""


class ModelPaused(ModelUnreachable):
    """The endpoint failed so often in a row that it is not asked for a while; no request was sent."""


class ModelRefused(ModelError):
    """The endpoint answered that the request, the key or the model's name is wrong."""


class ModelUnreadable(ModelError):
    """The endpoint answered with something that is no reply of a chat model."""


class LocalModelMissing(ModelError):
    """The local model's weights, or the package that runs them, are not on this machine or not as expected."""


class TraceUnwritable(AgentError):
    """The trace, or what is made of it, cannot be written."""


class ToolRefused(AgentError):
    """What a client asked a tool of the MCP server for cannot be done; its hint says what can."""


class ServerBusy(ToolRefused):
    """The MCP server has pages open for as many clients as it may."""
