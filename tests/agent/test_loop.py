"""The loop: the target alone decides, and there is always an outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from agent.errors import ModelUnreachable
from agent.events import Finished, Observed, RunEvent
from agent.loop import Loop
from agent.outcome import path_of
from agent.target import Answer, Decision, Usage
from browser.action import Action, Click, Visit
from browser.errors import SlotCrashed
from browser.observation import Document, Observation
from speccache.environment import Step
from tests.agent.pages import SITE, page


class Pages:
    """An environment of ready pages; an exception in a page's place is raised."""

    def __init__(self, *pages: Observation | Exception, gate: asyncio.Event | None = None) -> None:
        self._pages = list(pages)
        self._gate = gate

    async def step(self, action: Action) -> Observation:
        if self._gate is not None:
            await self._gate.wait()
        shown = self._pages.pop(0)
        if isinstance(shown, Exception):
            raise shown
        return shown

    async def aclose(self) -> None:
        self._pages.clear()


class Script:
    """A target that follows a script."""

    name = "script"

    def __init__(self, *decisions: Action | Answer | Exception) -> None:
        self._decisions = list(decisions)
        self.seen: list[int] = []

    async def decide(self, question: str, trajectory: Sequence[Step[Action, Observation]], /) -> Decision:
        self.seen.append(len(trajectory))
        decision = self._decisions.pop(0)
        if isinstance(decision, Exception):
            raise decision
        return Decision(action=decision, thought="because", usage=Usage(input_tokens=10, output_tokens=1), calls=1)

    async def conclude(self, question: str, trajectory: Sequence[Step[Action, Observation]], /) -> Decision:
        return await self.decide(question, trajectory)


async def test_walks_until_the_answer() -> None:
    target = Script(Visit("/a"), Visit("/b"), Answer(text="42", sources=(SITE + "/b",)))
    events: list[RunEvent] = []
    loop = Loop(Pages(page("/"), page("/a"), page("/b")), target, listener=events.append)
    outcome = await loop.run("what?", Visit(SITE + "/"))
    assert (outcome.status, outcome.answer, outcome.sources) == ("answered", "42", (SITE + "/b",))
    assert (outcome.turns, outcome.usage.input_tokens) == (3, 30)
    assert target.seen == [1, 2, 3]
    assert [action for action, _, _ in path_of(outcome.trajectory)] == [f"visit {SITE}/", "visit /a", "visit /b"]
    names = [type(event).__name__ for event in events]
    assert names == ["Started", "Observed", *["Thinking", "Decided", "Observed"] * 2, "Thinking", "Decided", "Finished"]
    assert outcome.as_json()["pages"] == [SITE + "/", SITE + "/a", SITE + "/b"]


async def test_times_are_shared_out() -> None:
    now = [0.0]

    class Slow(Pages):
        async def step(self, action: Action) -> Observation:
            now[0] += 2.0
            return await super().step(action)

    class Thinker(Script):
        async def decide(self, question: str, trajectory: Sequence[Step[Action, Observation]], /) -> Decision:
            now[0] += 5.0
            return await super().decide(question, trajectory)

    loop = Loop(Slow(page("/"), page("/a")), Thinker(Visit("/a"), Answer(text="x")), clock=lambda: now[0])
    shares = (await loop.run("what?", Visit(SITE))).shares
    assert (shares.total_seconds, shares.target_seconds, shares.exposed_seconds) == (14.0, 10.0, 4.0)


async def test_at_the_limit_of_turns_there_is_the_best_answer_so_far() -> None:
    pages = [page(f"/{n}", text=f"The {n}th of 40 boats.") for n in range(4)]
    best = Answer(text="40 boats", sources=(SITE + "/2",))
    loop = Loop(Pages(*pages), Script(*[Visit("/x")] * 3, best), max_turns=3)
    outcome = await loop.run("what?", Visit(SITE))
    assert (outcome.status, outcome.turns, len(outcome.trajectory)) == ("limit", 3, 4)
    assert "3 turns" in outcome.reason
    assert (outcome.answer, outcome.sources, outcome.support.url) == ("40 boats", (SITE + "/2",), SITE + "/2")
    assert (outcome.calls, outcome.usage.input_tokens) == (4, 40)


async def test_a_limit_holds_where_nothing_can_be_summed_up() -> None:
    script = Script(Visit("/x"), ModelUnreachable("the model is away"))
    outcome = await Loop(Pages(page("/"), page("/x")), script, max_turns=1).run("what?", Visit(SITE))
    assert (outcome.status, outcome.answer, outcome.error) == ("limit", "", None)
    assert "the model is away" in outcome.reason


async def test_an_action_that_changes_nothing_is_not_repeated_for_ever() -> None:
    same = [page("/") for _ in range(3)]
    target = Script(*[Click("c1")] * 5, Answer(text=""))
    outcome = await Loop(Pages(*same), target).run("what?", Visit(SITE))
    notices = [step.observation.notice for step in outcome.trajectory]
    assert [bool(notice) for notice in notices] == [False, False, False, True, True]
    assert "Choose another action" in notices[-1]
    assert (outcome.status, outcome.turns) == ("limit", 5)
    assert "5 times on a page that stays the same: click c1" in outcome.reason


async def test_another_action_ends_the_repetition() -> None:
    target = Script(*[Click("c1")] * 3, Visit("/b"), Answer(text="42"))
    outcome = await Loop(Pages(page("/"), page("/"), page("/"), page("/b")), target).run("what?", Visit(SITE))
    assert outcome.status == "answered"


async def test_an_action_on_a_page_that_changes_may_be_repeated() -> None:
    pages = [page("/", text=f"{n} of 9") for n in range(8)]
    target = Script(*[Click("c1")] * 7, Answer(text="42"))
    outcome = await Loop(Pages(*pages), target).run("what?", Visit(SITE))
    assert (outcome.status, [step.observation.notice for step in outcome.trajectory]) == ("answered", [""] * 8)


@pytest.mark.parametrize(("text", "supported"), [("There are 42 of them.", True), ("There are 43 of them.", False)])
async def test_an_answer_is_checked_against_the_pages_read(text: str, *, supported: bool) -> None:
    target = Script(Answer(text="42", sources=(SITE + "/",)))
    outcome = await Loop(Pages(page("/", text=text)), target).run("how many?", Visit(SITE))
    assert bool(outcome.support) is supported
    assert outcome.as_json()["supported"] is supported


async def test_an_empty_answer_is_giving_up() -> None:
    outcome = await Loop(Pages(page("/")), Script(Answer(text=""))).run("what?", Visit(SITE))
    assert outcome.status == "gave_up"
    assert outcome.reason


async def test_an_answer_that_is_not_as_asked_for_is_kept_and_not_called_answered() -> None:
    target = Script(Answer(text="42", fault="It has not the shape that was asked for."))
    outcome = await Loop(Pages(page("/", text="It is 42.")), target).run("what?", Visit(SITE))
    assert (outcome.status, outcome.answer, outcome.reason) == (
        "gave_up",
        "42",
        "It has not the shape that was asked for.",
    )


async def test_a_first_page_that_cannot_be_read_ends_the_run() -> None:
    broken = Observation(document=Document(requested_url=SITE, url=SITE, problem="No such host."), text="No such host.")
    outcome = await Loop(Pages(broken), Script()).run("what?", Visit(SITE))
    assert (outcome.status, outcome.turns) == ("error", 0)
    assert "No such host." in outcome.reason


@pytest.mark.parametrize(
    "error", [ModelUnreachable("the model is away", hint="Wake it."), SlotCrashed("the browser died")]
)
async def test_an_error_keeps_what_was_seen(error: Exception) -> None:
    in_target = isinstance(error, ModelUnreachable)
    events: list[RunEvent] = []
    loop = Loop(
        Pages(page("/"), page("/a") if in_target else error),
        Script(Visit("/a"), error if in_target else Answer(text="never")),
        listener=events.append,
    )
    outcome = await loop.run("what?", Visit(SITE))
    assert (outcome.status, outcome.error) == ("error", error)
    assert len(outcome.trajectory) == (2 if in_target else 1)
    assert isinstance(events[-1], Finished)
    assert events[-1].reason == str(error)


async def test_an_interruption_is_told_and_passes_through() -> None:
    events: list[RunEvent] = []
    gate = asyncio.Event()
    loop = Loop(Pages(page("/"), gate=gate), Script(), listener=events.append)
    run = asyncio.create_task(loop.run("what?", Visit(SITE)))
    await asyncio.sleep(0)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert isinstance(events[-1], Finished)
    assert events[-1].status == "interrupted"
    assert not [event for event in events if isinstance(event, Observed)]
