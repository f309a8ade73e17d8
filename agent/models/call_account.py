"""What the calls to models took and cost in a run: requests, retries, second requests, tokens, dollars.

Invariant: an account is built from events alone, and counts every request once; a cost is told only where every part of
it is known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agent.events import Call, CallKind
from agent.models.call_log import CallListener
from agent.target import Usage


@dataclass(slots=True)
class RoleAccount:
    """What the calls in one role took.

    Attributes:
        counts: How often each thing happened.
        usage: Tokens of the requests that were answered.
        dropped_usage: Tokens of those that were given up, as an estimate.
        cost_usd: What the tokens of all requests cost, as far as that is known.
        unpriced: Requests whose cost is not known.
    """

    counts: dict[CallKind, int] = field(default_factory=lambda: dict.fromkeys(CallKind, 0))
    usage: Usage = field(default_factory=Usage)
    dropped_usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    unpriced: int = 0

    def add(self, call: Call) -> None:
        """Count an event."""
        self.counts[call.kind] += 1
        if call.kind not in (CallKind.REPLY, CallKind.DROP):
            return
        usage = call.usage or Usage()
        if call.kind is CallKind.REPLY:
            self.usage += usage
        else:
            self.dropped_usage += usage
        self.cost_usd += call.cost_usd or 0.0
        self.unpriced += call.cost_usd is None

    @property
    def requests(self) -> int:
        """Requests that were sent."""
        return sum(self.counts[kind] for kind in (CallKind.REPLY, CallKind.FAIL, CallKind.DROP))

    def as_json(self) -> dict[str, Any]:
        """Return what `ask --json` prints of it."""
        counts = self.counts
        return {
            "requests": self.requests,
            "answered": counts[CallKind.REPLY],
            "failed": counts[CallKind.FAIL],
            "given_up": counts[CallKind.DROP],
            "retries": counts[CallKind.RETRY],
            "hedges": counts[CallKind.HEDGE],
            "hedges_won": counts[CallKind.SECOND],
            "fallbacks": counts[CallKind.FALLBACK],
            "pauses": counts[CallKind.PAUSE],
            "given_up_tokens": {"in": self.dropped_usage.input_tokens, "out": self.dropped_usage.output_tokens},
            "cost_usd": None if self.unpriced else round(self.cost_usd, 6),
        }


class CallAccount:
    """Counts what happens behind the calls of a run; a listener for their events.

    Attributes:
        listener: Whom to pass the events on to: models are opened before it is known who listens.
        roles: What each role took; empty where no model was called.
        prices: Which table the costs are from.
    """

    def __init__(self, *, prices: str = "") -> None:
        self.listener: CallListener = lambda _: None
        self.roles: dict[str, RoleAccount] = {}
        self.prices = prices

    def __call__(self, call: Call) -> None:
        """Count an event and pass it on."""
        self.roles.setdefault(call.role, RoleAccount()).add(call)
        self.listener(call)

    @property
    def cost_usd(self) -> float | None:
        """What all calls cost; None where a part of it is not known."""
        if any(role.unpriced for role in self.roles.values()):
            return None
        return round(sum(role.cost_usd for role in self.roles.values()), 6)

    def as_json(self) -> dict[str, Any]:
        """Return what `ask --json` prints under `calls`."""
        return {name: role.as_json() for name, role in self.roles.items()}

    def __str__(self) -> str:
        """Say in a line what was sent, what was done twice and what it cost; empty where no model was called."""
        if not self.roles:
            return ""
        cost = self.cost_usd
        told = [f"{sum(role.requests for role in self.roles.values())} requests"]
        for kind, words in _TOLD.items():
            number = sum(role.counts[kind] for role in self.roles.values())
            if number:
                told.append(f"{number} {words}")
        shown = "cost unknown" if cost is None else f"about ${cost:.4f} ({self.prices})"
        return f"{', '.join(told)}; {shown}"


_TOLD = {
    CallKind.RETRY: "retried",
    CallKind.HEDGE: "sent twice for being late",
    CallKind.DROP: "given up (tokens estimated)",
    CallKind.FALLBACK: "passed to another model",
    CallKind.PAUSE: "pauses",
}
