"""Where the time of a run went, and what speculation made of it.

Invariant: a run's trace and its outcome give the same figures. LLM time and web time are what the paper on SpecCache
(arXiv 2510.16276) takes them for: the target deciding, and its actions being done; `other` is the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agent.outcome import Outcome, Shares
from agent.target import Usage
from agent.timeline.phases import end_seconds, phases
from agent.timeline.trace_reader import Record, Run
from speccache.account import Account
from speccache.events import Event, EventKind

_KINDS = frozenset(EventKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """A run in figures.

    Attributes:
        turns: Decisions of the target.
        times: Where the time went, in seconds.
        usage: Tokens of the target.
        account: What speculation gained and cost.
    """

    turns: int
    times: Shares
    usage: Usage
    account: Account

    @property
    def other_seconds(self) -> float:
        """Time in which the target neither decided nor waited."""
        return max(0.0, self.times.total_seconds - self.times.target_seconds - self.times.exposed_seconds)

    @property
    def web_share(self) -> float:
        """Web time as a share of LLM and web time together, as the paper counts; only what was waited for is in it."""
        return _share(self.times.exposed_seconds, of=self.times.target_seconds + self.times.exposed_seconds)

    @property
    def serial_web_share(self) -> float:
        """The same if the target had waited for every page that loaded behind its thinking."""
        web_seconds = self.times.exposed_seconds + self.times.hidden_seconds
        return _share(web_seconds, of=self.times.target_seconds + web_seconds)

    def a_turn(self, amount: float) -> float:
        """Return an amount for each turn on average; 0 where there was none."""
        return _share(amount, of=self.turns)

    def as_json(self) -> dict[str, Any]:
        """Return the figures, by the names that `ask --json` uses."""
        times, account, usage = self.times, self.account, self.usage
        return {
            "turns": self.turns,
            "time": {
                "total_s": round(times.total_seconds, 3),
                "llm_s": round(times.target_seconds, 3),
                "web_exposed_s": round(times.exposed_seconds, 3),
                "web_hidden_s": round(times.hidden_seconds, 3),
                "draft_s": round(times.draft_seconds, 3),
                "other_s": round(self.other_seconds, 3),
            },
            "shares": {
                "llm": round(_share(times.target_seconds, of=times.total_seconds), 4),
                "web_exposed": round(_share(times.exposed_seconds, of=times.total_seconds), 4),
                "other": round(_share(self.other_seconds, of=times.total_seconds), 4),
                "web_of_llm_and_web": round(self.web_share, 4),
                "web_of_llm_and_web_serial": round(self.serial_web_share, 4),
            },
            "a_turn": {
                "llm_s": round(self.a_turn(times.target_seconds), 3),
                "web_exposed_s": round(self.a_turn(times.exposed_seconds), 3),
                "tokens_in": round(self.a_turn(usage.input_tokens), 1),
                "tokens_out": round(self.a_turn(usage.output_tokens), 1),
            },
            "cache": {
                "hits": account.hits,
                "joins": account.joins,
                "misses": account.misses,
                "speculated": account.speculated,
                "wasted": account.wasted,
                "wasted_bytes": account.wasted_bytes,
                "refused": account.refused,
            },
            "tokens": {"in": usage.input_tokens, "out": usage.output_tokens},
        }

    def __str__(self) -> str:
        serial = f" ({self.serial_web_share:.0%} had nothing loaded ahead)" if self.times.hidden_seconds else ""
        tokens = ""
        if self.usage.input_tokens or self.usage.output_tokens:
            given, written = self.a_turn(self.usage.input_tokens), self.a_turn(self.usage.output_tokens)
            tokens = f", {given:,.0f} tokens in and {written:,.0f} out"
        return (
            f"of LLM and web time, the web took {self.web_share:.0%}{serial}; a turn:"
            f" {self.a_turn(self.times.target_seconds):.2f} s LLM, {self.a_turn(self.times.exposed_seconds):.2f} s web"
            f"{tokens}"
        )


def breakdown_of_outcome(outcome: Outcome) -> Breakdown:
    """Break down a run by its outcome."""
    return Breakdown(turns=outcome.turns, times=outcome.shares, usage=outcome.usage, account=outcome.account)


def breakdown_of_run(run: Run) -> Breakdown:
    """Break down a run by its trace; what a crashed run was doing counts until the trace ends."""
    account = Account()
    for event in _cache_events(run):
        account(event)
    seconds = {"think": 0.0, "wait": 0.0}
    for phase in phases(run):
        seconds[phase.kind] += phase.seconds
    usage = Usage()
    for decided in run.named("decided", "concluded"):
        used = decided.group("usage")
        usage += Usage(input_tokens=int(used.number("input_tokens")), output_tokens=int(used.number("output_tokens")))
    times = Shares(
        total_seconds=end_seconds(run),
        target_seconds=seconds["think"],
        exposed_seconds=seconds["wait"],
        hidden_seconds=account.hidden_seconds,
        draft_seconds=sum(call.number("seconds") for call in run.named("call") if _is_request(call, role="draft")),
    )
    return Breakdown(turns=len(run.named("thinking")), times=times, usage=usage, account=account)


def _cache_events(run: Run) -> Iterator[Event]:
    for record in run.records:
        if record.name in _KINDS:
            yield Event(
                kind=EventKind(record.name),
                at_seconds=record.at_seconds,
                turn=record.turn,
                action=record.text("action"),
                key=record.text("key"),
                predictor=record.text("predictor"),
                rank=int(record.number("rank")),
                reason=record.text("reason"),
                seconds=record.number("seconds"),
                waited_seconds=record.number("waited_seconds"),
                thought_seconds=record.number("thought_seconds"),
                size_bytes=int(record.number("size_bytes")),
            )


def _is_request(call: Record, *, role: str) -> bool:
    return call.text("role") == role and call.text("kind") in ("reply", "fail", "drop")


def _share(part: float, *, of: float) -> float:
    return part / of if of else 0.0
