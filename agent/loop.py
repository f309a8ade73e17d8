"""The agent: reason, act, observe, until there is an answer.

Invariant: the target alone decides the path; all the loop does is not to repeat in circles what changes nothing.
It does not know which environment it drives, nor that anything may have been run ahead.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

from agent.errors import AgentError
from agent.events import Concluded, Concluding, Decided, Finished, Observed, RunListener, Started, Thinking
from agent.outcome import Outcome, Shares, Status
from agent.repetition import ENDED_AT, Repetition, Verdict
from agent.support import support
from agent.target import Answer, Decision, Reflection, Target, Usage
from browser.action import Action, Search
from browser.errors import BrowserError
from browser.observation import Observation
from speccache.environment import Environment, Step

_NOT_AGAIN = (
    "This was not done again: {action}. It was chosen before on this page, and the page is as it was then."
    " Choose another action, or answer."
)


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
        self._repetition = Repetition()
        self._turns = 0
        self._calls = 0
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
                support=outcome.support.url,
            )
        )

    async def _turns_from(self, question: str, start: Action) -> Outcome:
        await self._act(start)
        if self._here.document.problem is not None:
            return Outcome(status="error", reason=f"The first page could not be read. {self._here.document.problem}")
        for _ in range(self._max_turns):
            decision = await self._decide(question)
            action = decision.action
            if isinstance(action, Answer):
                return await self._answered(question, action)
            match self._repetition.judge(action, self._here):
                case Verdict.DO:
                    await self._act(action)
                case Verdict.REFUSE:
                    self._observe(action, replace(self._here, notice=_NOT_AGAIN.format(action=action)), seconds=0.0)
                case Verdict.END:
                    return await self._limit(question, f"{ENDED_AT} times on a page that stays the same: {action}.")
        return await self._limit(question, f"No answer within {self._max_turns} turns.")

    @property
    def _here(self) -> Observation:
        return self._trajectory[-1].observation

    async def _answered(self, question: str, answer: Answer) -> Outcome:
        if not answer.text:
            return Outcome(status="gave_up", reason="The target found no answer.", sources=answer.sources)
        status: Status = "gave_up" if answer.fault else "answered"
        outcome = Outcome(
            status=status, answer=answer.text, sources=answer.sources, data=answer.data, reason=answer.fault
        )
        return await self._supported(question, outcome)

    async def _limit(self, question: str, reason: str) -> Outcome:
        """End the run with the best answer that what was seen allows."""
        outcome = Outcome(status="limit", reason=reason)
        try:
            decision = await self._conclude(question)
        except AgentError as error:
            return replace(outcome, reason=f"{reason} What was seen could not be summed up: {error}")
        answer = decision.action
        if not isinstance(answer, Answer) or not answer.text:
            return outcome
        return await self._supported(
            question, replace(outcome, answer=answer.text, sources=answer.sources, data=answer.data)
        )

    async def _supported(self, question: str, outcome: Outcome) -> Outcome:
        """Check the answer against the pages, first those it names, last what searches showed of others."""
        documents = {step.observation.url: step.observation.document for step in self._trajectory}
        searched = {step.observation.url for step in self._trajectory if isinstance(step.action, Search)}
        order = [(url not in outcome.sources, url in searched, document) for url, document in documents.items()]
        ordered = [document for *_, document in sorted(order, key=lambda each: each[:2])]
        found = await asyncio.to_thread(support, outcome.answer, ordered, question=question)
        return replace(outcome, support=found)

    async def _decide(self, question: str) -> Decision:
        self._turns += 1
        started_seconds = self._clock()
        self._listener(Thinking(at_seconds=started_seconds, turn=self._turns))
        decision = await self._timed(self._target.decide(question, tuple(self._trajectory)))
        reflection = decision.reflection or Reflection()
        self._listener(
            Decided(
                at_seconds=self._clock(),
                turn=self._turns,
                action=str(decision.action),
                thought=decision.thought,
                seconds=self._clock() - started_seconds,
                usage=decision.usage,
                calls=decision.calls,
                information=reflection.information,
                satisfied=reflection.satisfied,
            )
        )
        return decision

    async def _conclude(self, question: str) -> Decision:
        started_seconds = self._clock()
        self._listener(Concluding(at_seconds=started_seconds, turn=self._turns))
        decision = await self._timed(self._target.conclude(question, tuple(self._trajectory)))
        self._listener(
            Concluded(
                at_seconds=self._clock(),
                turn=self._turns,
                action=str(decision.action),
                thought=decision.thought,
                seconds=self._clock() - started_seconds,
                usage=decision.usage,
                calls=decision.calls,
            )
        )
        return decision

    async def _timed(self, deciding: Awaitable[Decision]) -> Decision:
        started_seconds = self._clock()
        try:
            decision = await deciding
        finally:
            self._target_seconds += self._clock() - started_seconds
        self._usage += decision.usage
        self._calls += decision.calls
        return decision

    async def _act(self, action: Action) -> None:
        started_seconds = self._clock()
        try:
            observation = await self._environment.step(action)
        finally:
            seconds = self._clock() - started_seconds
            self._exposed_seconds += seconds
        self._observe(action, observation, seconds=seconds)

    def _observe(self, action: Action, observation: Observation, *, seconds: float) -> None:
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
                text=observation.notice or observation.text,
                seconds=seconds,
            )
        )

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
            calls=self._calls,
            target=self._target.name,
        )
