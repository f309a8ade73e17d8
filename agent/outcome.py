"""What a run gives back.

Invariant: there is always an outcome. What went wrong is in it, beside all that was seen until then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agent.models.call_account import CallAccount
from agent.support import NO_SUPPORT, Support
from agent.target import Usage
from browser.action import Action
from browser.observation import Observation
from speccache.account import Account
from speccache.environment import Step

Status = Literal["answered", "gave_up", "limit", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Where the time of a run went, in seconds.

    Attributes:
        total_seconds: From the question to the answer.
        target_seconds: The target deciding.
        exposed_seconds: Waiting for pages: from an action being known to its observation being in hand.
        hidden_seconds: Pages loading behind the target's thinking.
        draft_seconds: The draft model busy guessing, beside the target.
    """

    total_seconds: float = 0.0
    target_seconds: float = 0.0
    exposed_seconds: float = 0.0
    hidden_seconds: float = 0.0
    draft_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The end of a run.

    Attributes:
        status: Whether it was answered: `gave_up` by the target, `limit` reached, or ended by an `error`.
        answer: The answer; at a limit the best that was to be had, empty where there is none.
        sources: Addresses the answer rests on.
        data: The answer by the schema that was asked for; None where none was.
        support: Where the answer was found to stand on the pages read.
        reason: Why it was not answered, in a sentence; empty where it was.
        error: The error that ended the run.
        turns: Decisions the target made.
        trajectory: Every action taken and what came of it.
        shares: Where the time went.
        account: What speculation gained and cost.
        usage: Tokens the target used.
        calls: Model calls the target took.
        requests: What these calls and those of the draft model took and cost, request by request.
        draft_usage: Tokens the draft model used.
        target: Name of the target.
        notices: What was lost or came back meanwhile of what the run uses, a sentence each.
        trace: Where the trace was written; empty where it was not.
    """

    status: Status
    answer: str = ""
    sources: tuple[str, ...] = ()
    data: object = None
    support: Support = NO_SUPPORT
    reason: str = ""
    error: Exception | None = None
    turns: int = 0
    trajectory: Sequence[Step[Action, Observation]] = ()
    shares: Shares = field(default_factory=Shares)
    account: Account = field(default_factory=Account)
    usage: Usage = field(default_factory=Usage)
    calls: int = 0
    requests: CallAccount = field(default_factory=CallAccount)
    draft_usage: Usage = field(default_factory=Usage)
    target: str = ""
    notices: tuple[str, ...] = ()
    trace: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the object that `ask --json` prints."""
        account, shares = self.account, self.shares
        return {
            "answer": self.answer,
            "status": self.status,
            "reason": self.reason,
            "sources": list(self.sources),
            "supported": bool(self.support),
            "passage": self.support.passage,
            "data": self.data,
            "turns": self.turns,
            "target": self.target,
            "time": {
                "total_s": round(shares.total_seconds, 3),
                "llm_s": round(shares.target_seconds, 3),
                "web_exposed_s": round(shares.exposed_seconds, 3),
                "web_hidden_s": round(shares.hidden_seconds, 3),
                "draft_s": round(shares.draft_seconds, 3),
            },
            "cache": {
                "hits": account.hits,
                "joins": account.joins,
                "misses": account.misses,
                "speculated": account.speculated,
                "wasted": account.wasted,
                "refused": account.refused,
            },
            "speculation": {
                "hit_at_1": account.hits_within(1),
                "hit_at_3": account.hits_within(3),
                "joins_waited_s": round(account.waited_seconds, 3),
                "wasted_bytes": account.wasted_bytes,
                "refusals": dict(account.refusals),
                "failures": dict(account.failures),
                "turns_s": round(account.measured_seconds, 3),
                "turns_bound_s": round(account.bound_seconds, 3),
            },
            "tokens": {
                "target": {"in": self.usage.input_tokens, "out": self.usage.output_tokens},
                "draft": {"in": self.draft_usage.input_tokens, "out": self.draft_usage.output_tokens},
            },
            "calls": self.requests.as_json(),
            "cost": {"usd": self.requests.cost_usd, "prices": self.requests.prices},
            "pages": [step.observation.url for step in self.trajectory],
            "notices": list(self.notices),
            "trace": self.trace,
        }


def path_of(trajectory: Sequence[Step[Action, Observation]]) -> list[tuple[str, str, str]]:
    """Return what two runs on the same path have in common: each action, the page it led to, and what was shown."""
    return [(str(step.action), step.observation.url, step.observation.text) for step in trajectory]
