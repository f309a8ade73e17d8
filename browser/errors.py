"""Everything that can go wrong between this package and a browser.

```
BrowserError
├── BrowserNotFound        no Chromium on this machine
├── BrowserInstallFailed   none could be installed
├── LaunchFailed           a Chromium was found but does not start
│   ├── EndpointFailed     a browser elsewhere cannot be used
│   └── EndpointsDown      none of the browsers elsewhere can
├── SlotCrashed            page, context or browser died under a load; one retry in a new slot is worth it
├── AddressRefused         the address policy forbids it (scheme, private host)
├── SessionUnusable        a saved session cannot be read or written, or another run has it
├── ActionFailed           what was to be done on a page could not be done
│   └── StaleReference     the element meant is gone, or is no longer what it was
└── PoolClosed             used after `aclose()`
```

A page that cannot be loaded (unknown host, TLS, timeout, download) is no error here: it becomes a `Document` whose
`problem` says so, since the agent can go elsewhere. `playwright.Error` is mapped at one edge, `browser.page`.
"""

from __future__ import annotations

from collections.abc import Sequence


class BrowserError(Exception):
    """Base of this package's errors.

    Attributes:
        hint: What a person can do next, in a sentence; empty where there is nothing.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class BrowserNotFound(BrowserError):
    """No Chromium was found on this machine."""


class BrowserInstallFailed(BrowserError):
    """No Chromium could be installed."""


class LaunchFailed(BrowserError):
    """A Chromium was found but did not start."""


class EndpointFailed(LaunchFailed):
    """A browser elsewhere cannot be used.

    Attributes:
        endpoint: Its name, without what may be a secret.
        reason: Why.
    """

    def __init__(self, *, endpoint: str, reason: str, hint: str = "") -> None:
        super().__init__(f"the browser at {endpoint} cannot be used: {reason}", hint=hint)
        self.endpoint = endpoint
        self.reason = reason


class EndpointsDown(LaunchFailed):
    """None of the browsers elsewhere can be used.

    Attributes:
        failures: Why, one for each endpoint; two may show the same name.
    """

    def __init__(self, failures: Sequence[EndpointFailed]) -> None:
        told = "; ".join(f"{failure.endpoint}: {failure.reason}" for failure in failures)
        hint = next((failure.hint for failure in failures if failure.hint), "")
        super().__init__(f"no remote browser can be used. {told}", hint=hint)
        self.failures = tuple(failures)


class SlotCrashed(BrowserError):
    """The page, its context or its browser died while it was in use."""


class AddressRefused(BrowserError):
    """The address policy forbids this address.

    Attributes:
        url: The refused address.
    """

    def __init__(self, message: str, *, url: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.url = url


class SessionUnusable(BrowserError):
    """A saved session cannot be read or written, or another run has it."""


class ActionFailed(BrowserError):
    """What was to be done on a page could not be done; the page is still there."""


class StaleReference(ActionFailed):
    """The element a reference meant is gone, or is no longer what was shown."""


class PoolClosed(BrowserError):
    """The pool was used after it had been closed."""
