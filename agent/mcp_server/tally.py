"""What a session's cache does, followed by its events: what is loading, what was gained, how the last step went.

Invariant: every number is counted from events; nothing is estimated.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from speccache.account import Account
from speccache.events import Event, EventKind, Listener

_STEPS = (EventKind.HIT, EventKind.JOIN, EventKind.MISS, EventKind.DIRECT)
_ENDS = (EventKind.LOAD, EventKind.FAIL, EventKind.CANCEL, EventKind.REFUSE)


@dataclass(slots=True, kw_only=True)
class Tally:
    """A listener that follows one session.

    Attributes:
        account: What loading ahead gained and cost.
        loading: What is loading ahead just now, by the key it is cached under.
        step: The event of the last step; None before the first.
        onward: Whom to pass the events on to.
    """

    account: Account = field(default_factory=Account)
    loading: dict[str, str] = field(default_factory=dict)
    step: Event | None = None
    onward: Listener = lambda _: None
    rest: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while nothing is loading ahead."""

    def __post_init__(self) -> None:
        self.rest.set()

    def __call__(self, event: Event) -> None:
        """Take one event down."""
        self.account(event)
        if event.kind is EventKind.LAUNCH:
            self.loading[event.key] = event.action
        elif event.kind in _ENDS:
            self.loading.pop(event.key, None)
        elif event.kind in _STEPS:
            self.step = event
        (self.rest.clear if self.loading else self.rest.set)()
        self.onward(event)
