"""The agent: reason, act, observe, until there is an answer.

Invariant: the target alone decides the path. The loop does not know which environment it drives, nor that anything may
have been run ahead.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace

from agent.errors import AgentError
from agent.events import Decided, Finished, Observed, RunListener, Started, Thinking
from agent.outcome import Outcome, Shares
from agent.target import Answer, Decision, Target, Usage
from browser.action import Action
from browser.errors import BrowserError
from browser.observation import Observation
from speccache.environment import Environment, Step


class Loop:
    """One question's run.

    Args:
        environment: What is acted on; it stays the caller's.
        target: What decides.
        max_turns: Decisions at most (10 in the paper, arXiv 2510.16276).
        listener: Called with every event of the run.
        clock: Where the time comes from, in seconds.
    """

    def __init__(
        self,
        environment: Environment[Action, Observation],
        target: Target,
        *,
        max_turns: int = 10,
        listener: RunListener | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._environment = environment
        self._target = target
        self._max_turns = max_turns
        self._listener = listener or (lambda _: None)
        self._clock = clock
        self._trajectory: list[Step[Action, Observation]] = []
        self._turns = 0
        self._usage = Usage()
        self._target_seconds = 0.0
        self._exposed_seconds = 0.0

    async def run(self, question: str, start: Action) -> Outcome:
        """Answer the question, beginning with the action that opens the first page.

        What a model or a browser does wrong ends the run with an outcome that holds the error and all that was seen.
        """
        started_seconds = self._clock()
        self._listener(Started(at_seconds=started_seconds, question=question, url=str(start), target=self._target.name))
        try:
            outcome = await self._turns_from(question, start)
        except (AgentError, BrowserError) as error:
            outcome = Outcome(status="error", reason=str(error), error=error)
        except asyncio.CancelledError:
            self._finish("interrupted", Outcome(status="error", reason="The run was interrupted."))
            raise
        self._finish(outcome.status, outcome)
        return self._complete(outcome, started_seconds)

    def _finish(self, status: str, outcome: Outcome) -> None:
        self._listener(
            Finished(
                at_seconds=self._clock(),
                status=status,
                answer=outcome.answer,
                sources=outcome.sources,
                reason=outcome.reason,
            )
        )

    async def _turns_from(self, question: str, start: Action) -> Outcome:
        first = await self._act(start)
        if first.document.problem is not None:
            return Outcome(status="error", reason=f"The first page could not be read. {first.document.problem}")
        for _ in range(self._max_turns):
            decision = await self._decide(question)
            if isinstance(decision.action, Answer):
                return _answered(decision.action)
            await self._act(decision.action)
        return Outcome(status="limit", reason=f"No answer within {self._max_turns} turns.")

    async def _decide(self, question: str) -> Decision:
        self._turns += 1
        started_seconds = self._clock()
        self._listener(Thinking(at_seconds=started_seconds, turn=self._turns))
        try:
            decision = await self._target.decide(question, tuple(self._trajectory))
        finally:
            seconds = self._clock() - started_seconds
            self._target_seconds += seconds
        self._usage += decision.usage
        self._listener(
            Decided(
                at_seconds=self._clock(),
                turn=self._turns,
                action=str(decision.action),
                thought=decision.thought,
                seconds=seconds,
                usage=decision.usage,
            )
        )
        return decision

    async def _act(self, action: Action) -> Observation:
        started_seconds = self._clock()
        try:
            observation = await self._environment.step(action)
        finally:
            seconds = self._clock() - started_seconds
            self._exposed_seconds += seconds
        self._trajectory.append(Step(action, observation))
        document = observation.document
        self._listener(
            Observed(
                at_seconds=self._clock(),
                turn=self._turns,
                action=str(action),
                url=document.url,
                title=document.title,
                status=document.status,
                readiness=document.readiness,
                problem=document.problem,
                text=observation.text,
                seconds=seconds,
            )
        )
        return observation

    def _complete(self, outcome: Outcome, started_seconds: float) -> Outcome:
        return replace(
            outcome,
            turns=self._turns,
            trajectory=tuple(self._trajectory),
            shares=Shares(
                total_seconds=self._clock() - started_seconds,
                target_seconds=self._target_seconds,
                exposed_seconds=self._exposed_seconds,
            ),
            usage=self._usage,
            target=self._target.name,
        )


def _answered(answer: Answer) -> Outcome:
    if answer.text:
        return Outcome(status="answered", answer=answer.text, sources=answer.sources)
    return Outcome(status="gave_up", reason="The target found no answer.", sources=answer.sources)
