"""Reflexion: notes after each page, a critic that ends the run, and requests that stay within the window."""

from __future__ import annotations

import json
from typing import Any

from agent.target import Answer, Reflection
from agent.targets.model_target import ModelTarget
from agent.targets.reflexion import ReflexionTarget
from agent.targets.window import estimated_tokens
from browser.action import Back, Visit
from tests.agent.pages import SITE, page, walk
from tests.endpoints.connected import connected
from tests.endpoints.scripted import Body, Call, Say, Scripted, ScriptedEndpoint

FIRST, SECOND = page("/a", text="Ada was born in 1815.", links=2), page("/b", text="Ada died in 1852.", links=2)
ON = Say(calls=[Call("visit", '{"target": "1"}')])


def note(information: str, *, useful: bool = True) -> Say:
    return Say(json.dumps({"useful": useful, "information": information}))


def verdict(*, answered: bool, answer: str = "", sources: tuple[str, ...] = ()) -> Say:
    return Say(json.dumps({"answered": answered, "answer": answer, "sources": sources}))


def prompts(endpoint: ScriptedEndpoint) -> list[str]:
    return [request.body["messages"][1]["content"] for request in endpoint.requests]


async def test_a_turn_notes_criticises_and_decides() -> None:
    script = [note("born 1815"), verdict(answered=False), ON, note("died 1852"), verdict(answered=False), ON]
    async with ScriptedEndpoint(script) as endpoint, connected(endpoint) as model:
        target = ReflexionTarget(model)
        first = await target.decide("How old did Ada become?", walk(FIRST))
        second = await target.decide("How old did Ada become?", walk(FIRST, SECOND))
        told = prompts(endpoint)
    assert (first.action, first.calls) == (Visit("1"), 3)
    assert first.reflection == Reflection(information="born 1815", satisfied=False)
    assert second.usage.input_tokens > 0
    assert "Ada was born in 1815." in told[0]
    assert "born 1815" in told[4]
    assert "died 1852" in told[4], "the critic sees all notes"
    assert "born 1815" in told[5]
    assert "Ada was born in 1815." not in told[5], "a note stands in the place of an older page"
    assert "Ada died in 1852." in told[5], "the last page is whole"


async def test_a_satisfied_critic_ends_the_run() -> None:
    satisfied = verdict(answered=True, answer="36", sources=(SITE + "/b", "http://invented.test/"))
    script = [note("born 1815"), verdict(answered=False), ON, note("died 1852"), satisfied]
    async with ScriptedEndpoint(script) as endpoint, connected(endpoint) as model:
        target = ReflexionTarget(model)
        await target.decide("How old did Ada become?", walk(FIRST))
        decision = await target.decide("How old did Ada become?", walk(FIRST, SECOND))
    assert decision.action == Answer(text="36", sources=(SITE + "/b",))
    assert decision.reflection == Reflection(information="died 1852", satisfied=True)
    assert decision.calls == 2


async def test_sources_that_are_no_addresses_are_left_out() -> None:
    told = {"answered": True, "answer": "36", "sources": [{"url": SITE + "/a"}, ["x"], None]}
    async with ScriptedEndpoint([note("born 1815"), Say(json.dumps(told))]) as endpoint, connected(endpoint) as model:
        decision = await ReflexionTarget(model).decide("How old did Ada become?", walk(FIRST))
    assert decision.action == Answer(text="36", sources=(walk(FIRST)[0].observation.url,))


async def test_a_page_of_no_use_costs_no_critic() -> None:
    async with ScriptedEndpoint([note("", useful=False), ON]) as endpoint, connected(endpoint) as model:
        decision = await ReflexionTarget(model).decide("Who?", walk(FIRST))
    assert (decision.calls, decision.reflection) == (2, Reflection())


async def test_a_page_that_could_not_be_read_is_not_written_down() -> None:
    broken = page("/gone", problem="The host is unknown.")
    async with ScriptedEndpoint([ON]) as endpoint, connected(endpoint) as model:
        decision = await ReflexionTarget(model).decide("Who?", walk(broken))
    assert decision.calls == 1


async def test_notes_and_verdicts_that_are_no_json_do_no_harm() -> None:
    script = [Say("<think>hm</think>Born in 1815."), Say("I am not sure."), ON]
    async with ScriptedEndpoint(script) as endpoint, connected(endpoint) as model:
        decision = await ReflexionTarget(model).decide("Who?", walk(FIRST))
    assert decision.reflection == Reflection(information="Born in 1815.", satisfied=False)
    assert decision.action == Visit("1")


async def test_a_new_run_begins_with_an_empty_notebook() -> None:
    script = [note("old news"), verdict(answered=False), ON, note("fresh"), verdict(answered=False), ON]
    async with ScriptedEndpoint(script) as endpoint, connected(endpoint) as model:
        target = ReflexionTarget(model)
        await target.decide("Who?", walk(FIRST))
        await target.decide("Who?", walk(SECOND))
        assert "old news" not in prompts(endpoint)[4]


async def test_old_pages_become_notes_when_the_window_is_full_and_not_before() -> None:
    pages = [page(f"/{n}", text=f"page {n}: " + "word " * 1_000) for n in range(4)]

    def reply(body: Body) -> Scripted:
        return note("noted") if "information" in body["messages"][0]["content"] else Say(calls=[Call("back", "{}")])

    async with ScriptedEndpoint(reply) as endpoint, connected(endpoint) as model:
        roomy = await ModelTarget(model, window_tokens=20_000).decide("Who?", walk(*pages))
        tight = await ModelTarget(model, window_tokens=3_900).decide("Who?", walk(*pages))
        sizes = [_tokens(request.body) for request in endpoint.requests]
        last = prompts(endpoint)[-1]
    assert (roomy.action, roomy.calls) == (Back(), 1)
    assert (tight.action, tight.calls) == (Back(), 3)
    assert max(sizes[1:]) <= 3_900
    assert last.count("[Shortened to what was noted of this page]") == 2
    assert "page 2: " in last
    assert "page 3: " in last


async def test_a_page_larger_than_the_window_is_shown_in_part_and_says_so() -> None:
    whole = page("/", text="word " * 10_000)
    async with ScriptedEndpoint([ON]) as endpoint, connected(endpoint) as model:
        await ModelTarget(model, window_tokens=4_000).decide("Who?", walk(whole))
        assert _tokens(endpoint.requests[0].body) <= 4_050
        assert "more characters of this are not shown: use find]" in prompts(endpoint)[0]


async def test_at_a_limit_the_model_is_asked_for_its_best_answer() -> None:
    answer = Say(calls=[Call("answer", json.dumps({"answer": "about 36", "sources": [SITE + "/b"]}))])
    script = [answer, Say("About 36, I think."), ON]
    async with ScriptedEndpoint(script) as endpoint, connected(endpoint) as model:
        target = ReflexionTarget(model)
        concluded = [(await target.conclude("How old?", walk(FIRST, SECOND))).action for _ in script]
        offered = [tool["function"]["name"] for tool in endpoint.requests[0].body["tools"]]
    assert concluded == [
        Answer(text="about 36", sources=(SITE + "/b",)),
        Answer(text="About 36, I think."),
        Answer(text=""),
    ]
    assert offered == ["answer"]
    assert "There is no turn left" in prompts(endpoint)[0]


def _tokens(body: dict[str, Any]) -> int:
    return sum(estimated_tokens(message["content"]) for message in body["messages"])
