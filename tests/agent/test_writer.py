"""The walk decides where to go; the model's words count only where a page says them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from agent.errors import ModelError
from agent.predictors.embedding import Embedder
from agent.support import supports
from agent.target import Answer, Decision, Usage
from agent.targets.writer import PASSAGES, WriterTarget
from browser.action import Action, Visit
from browser.observation import Observation
from speccache.environment import Step
from tests.agent.pages import SITE, page, walk
from tests.endpoints.connected import connected
from tests.endpoints.scripted import Fail, Say, ScriptedEndpoint

QUESTION = "How many boats does the harbour of Sund have?"
HARBOUR = page("/harbour", text="# Harbour\n\nThe harbour of Sund has 1,240 boats.\n\nIts lighthouse is red.")
TOWN = page("/town", text="# Town\n\nSund is a small town with a harbour.")
QUOTE = Answer(text="Sund is a small town with a harbour.", sources=(f"{SITE}/town",))


class ScriptedWalk:
    """A target that always decides the same."""

    name = "scripted"

    def __init__(self, action: Action | Answer) -> None:
        self.decision = Decision(action=action, thought="walked", usage=Usage(input_tokens=1000))

    async def decide(self, question: str, trajectory: Sequence[Step[Action, Observation]], /) -> Decision:
        return self.decision

    async def conclude(self, question: str, trajectory: Sequence[Step[Action, Observation]], /) -> Decision:
        return self.decision


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder()


async def decide(
    words: str | Fail, embedder: Embedder, *, action: Action | Answer = QUOTE, pages: Sequence[Observation] = ()
) -> tuple[Decision, ScriptedEndpoint]:
    """Let a model that says these words decide after the pages."""
    script = [words if isinstance(words, Fail) else Say(words)]
    async with ScriptedEndpoint(script) as endpoint, connected(endpoint) as model:
        target = WriterTarget(ScriptedWalk(action), model, embedder)
        return await target.decide(QUESTION, walk(*(pages or (TOWN, HARBOUR)))), endpoint


async def test_the_walk_alone_decides_where_to_go(embedder: Embedder) -> None:
    decision, endpoint = await decide("unasked", embedder, action=Visit("3"))
    assert decision.action == Visit("3")
    assert endpoint.requests == []


async def test_words_that_a_passage_says_are_the_answer_with_its_page(embedder: Embedder) -> None:
    decision, endpoint = await decide("1,240\n", embedder)
    assert decision.action == Answer(text="1,240", sources=(f"{SITE}/harbour",))
    assert "The harbour of Sund has 1,240 boats." in decision.thought
    (request,) = endpoint.requests
    assert decision.usage == Usage(input_tokens=1000 + len(prompt(request.body).split()), output_tokens=1)


async def test_invented_words_give_way_to_the_walks_quotation(embedder: Embedder) -> None:
    decision, _ = await decide("1,250", embedder)
    assert decision.action == QUOTE
    assert "No passage says what the model says ('1,250')" in decision.thought
    assert decision.usage.output_tokens == 1


async def test_the_model_sees_the_best_passages_and_no_more(embedder: Embedder) -> None:
    many = page("/many", text="\n\n".join(f"# Pier {n}\n\nPier {n} has {n} boats." for n in range(40)))
    _, endpoint = await decide("1,240", embedder, pages=[many, HARBOUR])
    shown = prompt(endpoint.requests[0].body)
    assert QUESTION in shown
    assert "1,240 boats" in shown
    assert f"[{PASSAGES}]" in shown
    assert f"[{PASSAGES + 1}]" not in shown


async def test_where_the_pages_say_nothing_the_model_is_not_asked(embedder: Embedder) -> None:
    nothing = Answer(text="")
    decision, endpoint = await decide("1,240", embedder, action=nothing, pages=[page("/empty")])
    assert decision.action == nothing
    assert endpoint.requests == []


async def test_a_model_that_fails_is_an_error(embedder: Embedder) -> None:
    with pytest.raises(ModelError):
        await decide(Fail(status=500), embedder)


async def test_it_is_called_by_the_models_name(embedder: Embedder) -> None:
    async with ScriptedEndpoint() as endpoint, connected(endpoint, model="local") as model:
        assert WriterTarget(ScriptedWalk(QUOTE), model, embedder).name == "local"


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("60 seconds", "The default is 60 seconds (60s)."),
        ("**60 Seconds**.", "It is \u201c60\u00a0seconds\u201d."),
        ("640px - 1023px", "large: 640px - 1023px"),
        ("3106", "Discussion: #3106"),
        ("MSFShimmerView", "MSFShimmerView in Objective-C"),
        ("the default timeout is 60", "Default: 60; Unit: s"),
        ("-5", "It may fall to -5 degrees."),
        ("\u4e8c\u5341\u8258\u8239", "\u6e2f\u53e3\u6709\u4e8c\u5341\u8258\u8239\u3002"),
    ],
)
def test_a_passage_supports_what_it_says_in_one_run(answer: str, passage: str) -> None:
    assert supports(passage, answer, question="What is the default timeout?")


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("60", "The default is 600 seconds."),
        ("60", "The default is 1,060 or 60.5 or 2060-60-60."),
        ("1600", "At most 1,600 columns."),
        ("5", "It may fall to -5 degrees."),
        ("40", "SQLSTATE 40P01"),
        ("60 minutes", "After 60 seconds; 5 minutes later."),
        ("not 60", "The default is 60."),
        ("default timeout", "The default timeout is 60."),
        ("", "The default is 60."),
        ("...", "The default is 60..."),
    ],
)
def test_a_passage_supports_nothing_else(answer: str, passage: str) -> None:
    assert not supports(passage, answer, question="What is the default timeout?")


def prompt(body: Mapping[str, Any]) -> str:
    return "\n".join(message["content"] for message in body["messages"])
