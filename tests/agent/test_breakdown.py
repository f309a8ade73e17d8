"""Where the time went: a run's trace and its outcome tell the same."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agent.errors import ModelUnreachable
from agent.events import RunEvent
from agent.loop import Loop
from agent.outcome import Outcome, Shares
from agent.target import Answer, Decision, Usage
from agent.timeline.breakdown import Breakdown, breakdown_of_outcome, breakdown_of_run
from agent.timeline.trace_reader import Run, read_trace
from agent.trace import Trace
from browser.action import Action, Visit
from browser.observation import Observation
from speccache.account import Account
from speccache.environment import Step
from speccache.events import Event
from speccache.predictor import Guess
from speccache.speculative_environment import SpeculativeEnvironment
from tests.agent.pages import SITE, page
from tests.agent.traces import HEADING, decided, example, observed, thinking, write


class Clock:
    """Moves by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class Library:
    """Pages that take a second each."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def key(self, action: Action, /) -> str | None:
        return action.target if isinstance(action, Visit) else None

    async def step(self, action: Action, /) -> Observation:
        return await self.peek(action)

    async def peek(self, action: Action, /) -> Observation:
        self._clock.seconds += 1.0
        await asyncio.sleep(0)
        return page(str(action).rpartition("/")[2])

    async def adopt(self, action: Action, observation: Observation, /) -> Observation:
        return observation

    async def aclose(self) -> None:
        pass


class Guessing:
    """Guesses one right page a turn, and one wrong one."""

    name = "guessing"

    async def predict(self, trajectory: Sequence[Step[Action, Observation]], /) -> AsyncGenerator[Guess[Action]]:
        for rank, target in enumerate([f"{SITE}/{len(trajectory)}", f"{SITE}/wrong-{len(trajectory)}"], 1):
            yield Guess(action=Visit(target), predictor=self.name, rank=rank, score=1 / rank)


class Thinker:
    """Goes from page to page, thinking two seconds, in which loads ahead have their turn."""

    name = "thinker"

    def __init__(self, clock: Clock, *, pages: int, end: Answer | Exception | None) -> None:
        self._clock = clock
        self._pages = pages
        self._end = end

    async def decide(self, question: str, trajectory: Sequence[Step[Action, Observation]], /) -> Decision:
        for _ in range(20):
            await asyncio.sleep(0)
        self._clock.seconds += 2.0
        if isinstance(self._end, Exception) and len(trajectory) > self._pages:
            raise self._end
        usage = Usage(input_tokens=100, output_tokens=10)
        action = self._end if isinstance(self._end, Answer) and len(trajectory) > self._pages else None
        return Decision(action=action or Visit(f"{SITE}/{len(trajectory)}"), usage=usage, calls=1)

    async def conclude(self, question: str, trajectory: Sequence[Step[Action, Observation]], /) -> Decision:
        self._clock.seconds += 3.0
        return Decision(action=Answer(text="perhaps"), usage=Usage(input_tokens=7, output_tokens=3), calls=1)


async def ran(path: Path, *, pages: int, end: Answer | Exception | None) -> tuple[Outcome, Run]:
    clock, account = Clock(), Account()
    with Trace(path) as trace:

        def tell(event: RunEvent) -> None:
            if isinstance(event, Event):
                account(event)
            trace(event)

        environment = SpeculativeEnvironment(Library(clock), predictors=[Guessing()], listener=tell, clock=clock)
        loop = Loop(environment, Thinker(clock, pages=pages, end=end), max_turns=4, listener=tell, clock=clock)
        outcome = await loop.run("what?", Visit(f"{SITE}/0"))
        await environment.aclose()
    shares = replace(outcome.shares, hidden_seconds=account.hidden_seconds)
    return replace(outcome, shares=shares, account=account), read_trace(path)[0]


@pytest.mark.parametrize(
    ("pages", "end", "status"),
    [
        (2, Answer(text="that"), "answered"),
        (2, ModelUnreachable("the model is away"), "error"),
        (9, None, "limit"),
    ],
)
async def test_the_trace_and_the_outcome_tell_the_same(
    tmp_path: Path, pages: int, end: Answer | Exception | None, status: str
) -> None:
    outcome, run = await ran(tmp_path / "run.jsonl", pages=pages, end=end)
    assert outcome.status == run.status == status
    by_outcome, by_trace = breakdown_of_outcome(outcome), breakdown_of_run(run)
    assert by_outcome.as_json() == by_trace.as_json()
    assert by_outcome.times.hidden_seconds > 0
    assert by_outcome.account.wasted > 0


def test_figures_of_a_run(tmp_path: Path) -> None:
    breakdown = breakdown_of_run(read_trace(write(tmp_path / "run.jsonl", example()))[0])
    shown = breakdown.as_json()
    assert shown["time"] == {
        "total_s": 10.0,
        "llm_s": 6.0,
        "web_exposed_s": 3.0,
        "web_hidden_s": 3.0,
        "draft_s": 0.9,
        "other_s": 1.0,
    }
    assert shown["shares"] == {
        "llm": 0.6,
        "web_exposed": 0.3,
        "other": 0.1,
        "web_of_llm_and_web": 0.3333,
        "web_of_llm_and_web_serial": 0.5,
    }
    assert shown["a_turn"] == {"llm_s": 2.0, "web_exposed_s": 1.0, "tokens_in": 1000.0, "tokens_out": 50.0}
    assert (shown["cache"]["speculated"], shown["cache"]["wasted"], shown["cache"]["wasted_bytes"]) == (4, 2, 3000)
    assert str(breakdown) == (
        "of LLM and web time, the web took 33% (50% had nothing loaded ahead); a turn: 2.00 s LLM, 1.00 s web,"
        " 1,000 tokens in and 50 out"
    )


def test_what_a_crashed_run_was_doing_counts(tmp_path: Path) -> None:
    crashed = [HEADING, {"event": "started", "at_s": 0.0}, observed(1.0, "", turn=0, seconds=1.0)]
    crashed += [thinking(1.0, turn=1), {"event": "later", "at_s": 4.0}]
    while_thinking = breakdown_of_run(read_trace(write(tmp_path / "one.jsonl", crashed))[0])
    assert (while_thinking.times.target_seconds, while_thinking.times.exposed_seconds) == (3.0, 1.0)
    crashed[-1:] = [decided(2.0, "visit 1", turn=1, seconds=1.0), {"event": "later", "at_s": 4.0}]
    while_waiting = breakdown_of_run(read_trace(write(tmp_path / "two.jsonl", crashed))[0])
    assert (while_waiting.times.target_seconds, while_waiting.times.exposed_seconds) == (1.0, 3.0)


def test_nothing_is_divided_by_nothing(tmp_path: Path) -> None:
    empty = breakdown_of_run(read_trace(write(tmp_path / "run.jsonl", [HEADING]))[0])
    assert set(empty.as_json()["shares"].values()) == {0.0}
    assert "a turn: 0.00 s LLM" in str(empty)
    by_hand = Breakdown(turns=0, times=Shares(total_seconds=1.0), usage=Usage(), account=Account())
    assert by_hand.other_seconds == 1.0
