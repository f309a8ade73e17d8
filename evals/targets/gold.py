"""The simulated target: it knows the way and follows it, with a set rate of errors; there is no model behind it.

It isolates the environment: how long pages are waited for, not how well anything decides. Invariant: a decision depends
on the question and the trajectory alone, never on time, so that all modes take the same path.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from agent.target import Answer, Decision
from agent.targets.frontier import Trajectory, unread
from browser.action import Action, Visit
from browser.observation import Observation
from evals.suites.item import Item
from evals.targets.way import astray, meant, shown, steps_of


@dataclass(frozen=True, slots=True, kw_only=True)
class _Move:
    """What is done next.

    Attributes:
        action: None: nothing is left to do, or it cannot be done.
        thought: Why.
        reached: Where each step done so far has led.
        is_wrong: Whether it is a wrong link, so that the step is still to be done.
    """

    action: Action | None = None
    thought: str
    reached: tuple[Observation, ...]
    is_wrong: bool = False


class GoldTarget:
    """Follows the known ways of a question, one after the other, then gives the expected answer.

    The text of a link is looked for on the page that the step before led to, then on the others, the latest first. A
    step to a page that was read is skipped. One that cannot be done ends the run with an empty answer, and the thought
    says why.

    Args:
        item: The question; without a known way, each of its sources is visited directly.
        address: The site's address, without a slash at its end; empty on the live web.
        error_rate: How often, from 0 to 1, a wrong link of the page stood on is followed before a step; never two in
            a row. The step is then taken by its address.
        seed: Other seeds err elsewhere.
    """

    name = "gold (simulated)"

    def __init__(self, item: Item, *, address: str, error_rate: float = 0.0, seed: int = 0) -> None:
        if not 0 <= error_rate <= 1:
            raise ValueError(f"error_rate is {error_rate}; it must be between 0 and 1")
        self._item = item
        self._steps = steps_of(item)
        self._address = address
        self._error_rate = error_rate
        self._seed = seed

    async def decide(self, question: str, trajectory: Trajectory, /) -> Decision:
        """Take the next step, or a wrong link before it; answer once all ways are followed."""
        move = self._next(question, trajectory)
        return self._answer(move) if move.action is None else Decision(action=move.action, thought=move.thought)

    async def conclude(self, question: str, trajectory: Trajectory, /) -> Decision:
        """Give the expected answer where all ways were followed, else an empty one."""
        return self._answer(self._next(question, trajectory))

    def _next(self, question: str, trajectory: Trajectory) -> _Move:
        """Make all moves again: which page a step's link was found on depends on what had been seen by then."""
        move = self._move(question, trajectory[:1], ())
        for turn in range(2, len(trajectory) + 1):
            seen = trajectory[:turn]
            reached = move.reached if move.is_wrong else (*move.reached, seen[-1].observation)
            move = self._move(question, seen, reached, may_err=not move.is_wrong)
        return move

    def _move(
        self, question: str, seen: Trajectory, reached: tuple[Observation, ...], *, may_err: bool = True
    ) -> _Move:
        here = seen[-1].observation
        if reached and reached[-1] is here and (problem := _problem(here)):
            return _Move(thought=f"The way leads to a page that cannot be read. {problem}", reached=reached[:-1])
        for number, step in enumerate(self._steps[len(reached) :], len(reached) + 1):
            before = seen[0].observation if step.begins else reached[-1]
            pages = (before, *(each.observation for each in reversed(seen)))
            action = meant(step.text, address=self._address, pages=pages)
            if action is None:
                return _Move(thought=f"No page seen has the link {step.text!r}.", reached=reached)
            found = shown(action, seen)
            if found is None:
                wrong = self._wrong(question, seen) if may_err else None
                thought = "A wrong link, as simulated." if wrong else f"Step {number} of {len(self._steps)}."
                return _Move(action=wrong or action, thought=thought, reached=reached, is_wrong=wrong is not None)
            reached = (*reached, found)
        return _Move(thought="All ways were followed to their ends.", reached=reached)

    def _wrong(self, question: str, seen: Trajectory) -> Visit | None:
        """Draw anew for each turn, so that what is drawn does not depend on how often it was asked for."""
        turn = Random(f"{self._seed} {question} {len(seen)}")  # noqa: S311 - repeatable, no secret
        if turn.random() >= self._error_rate:
            return None
        links = astray(unread(seen), self._steps, address=self._address)
        return Visit(turn.choice(links).url) if links else None

    def _answer(self, move: _Move) -> Decision:
        ends = [page.url for step, page in zip(self._steps, move.reached, strict=False) if step.ends]
        if not self._steps:
            return Decision(action=Answer(text=""), thought="No way to the answer is known.")
        if move.action is not None or len(move.reached) < len(self._steps):
            return Decision(action=Answer(text=""), thought=move.thought)
        return Decision(action=Answer(text=self._item.answer, sources=tuple(dict.fromkeys(ends))), thought=move.thought)


def _problem(page: Observation) -> str:
    status = page.document.status
    return page.document.problem or (f"Its status is {status}." if status is not None and status >= 400 else "")
