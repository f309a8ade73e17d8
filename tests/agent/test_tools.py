"""Reading a model's reply: every way it may be written, and none that breaks the reader."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import ModelUnreadable
from agent.models.reply import Reply, ToolCall
from agent.target import Answer
from agent.targets.choice import read
from agent.targets.tools import TOOLS
from browser.action import (
    Action,
    Back,
    Check,
    Click,
    Find,
    Forward,
    Hover,
    More,
    Press,
    Scroll,
    Select,
    SwitchTab,
    Type,
    Upload,
    Visit,
    WaitFor,
)


def _called(name: str, arguments: str, *, text: str = "") -> Reply:
    return Reply(text=text, tool_calls=(ToolCall(name=name, arguments=arguments),))


@pytest.mark.parametrize(
    ("name", "arguments", "action"),
    [
        ("visit", '{"target": "12"}', Visit("12")),
        ("visit", '{"target": 12}', Visit("12")),
        ("visit", '{"target": "[12]"}', Visit("12")),
        ("visit", '{"target": "[Release notes][12]"}', Visit("12")),
        ("visit", '{"target": "http://site.test/a"}', Visit("http://site.test/a")),
        ("visit", '{"link": "12"}', Visit("12")),
        ("Visit", '"12"', Visit("12")),
        ("back", "{}", Back()),
        ("back", "", Back()),
        ("more", '{"anything": 1}', More()),
        ("find", '{"text": " two words "}', Find("two words")),
        ("forward", "{}", Forward()),
        ("click", '{"control": "c3", "accept": false}', Click("c3")),
        ("click", '{"control": "[c3]", "accept": "yes"}', Click("[c3]", accept=True)),
        ("click", '"c3"', Click("c3")),
        ("type", '{"field": "c3", "text": "a b", "submit": true}', Type("c3", "a b", submit=True)),
        ("type", '{"field": "c3", "text": ""}', Type("c3", "")),
        ("press", '{"key": "Enter"}', Press("Enter")),
        ("select", '{"control": "c3", "option": "Large"}', Select("c3", "Large")),
        ("check", '{"control": "c3"}', Check("c3", on=True)),
        ("check", '{"control": "c3", "on": "off"}', Check("c3", on=False)),
        ("hover", '{"control": "12"}', Hover("12")),
        ("scroll", '{"to": "down"}', Scroll("down")),
        ("upload", '{"control": "c3", "path": "cv.pdf"}', Upload("c3", "cv.pdf")),
        ("wait_for", '{"text": "Done"}', WaitFor("Done")),
        ("switch_tab", '{"number": "2"}', SwitchTab(2)),
        (
            "answer",
            '{"answer": "42", "sources": ["http://a/", "http://b/"]}',
            Answer(text="42", sources=("http://a/", "http://b/")),
        ),
        ("answer", '{"answer": "42", "sources": "http://a/"}', Answer(text="42", sources=("http://a/",))),
        ("answer", '{"answer": "42", "sources": [7]}', Answer(text="42")),
        ("answer", '{"answer": "42", "sources": null}', Answer(text="42")),
        ("answer", '{"answer": ""}', Answer(text="")),
    ],
)
def test_tool_calls(name: str, arguments: str, action: Action | Answer) -> None:
    assert read(_called(name, arguments)).action == action


@pytest.mark.parametrize(
    ("text", "action", "thought"),
    [
        ('{"tool": "visit", "target": "12"}', Visit("12"), ""),
        ('I look there.\n```json\n{"tool": "visit", "target": "12"}\n```', Visit("12"), "I look there."),
        ('{"name": "visit", "arguments": {"target": "12"}}', Visit("12"), ""),
        ('<tool_call>{"name": "back", "arguments": {}}</tool_call>', Back(), "<tool_call>"),
        ('{"action": "find", "action_input": "x y"}', Find("x y"), ""),
        ('{"action": {"name": "more"}}', More(), '{"action":'),
        ('{"name": "Ada"}\n{"tool": "back"}', Back(), '{"name": "Ada"}'),
        ('{a set} {"answer": "42"}', Answer(text="42"), "{a set}"),
        ("Thought: go\nAction: visit\nAction Input: 12", Visit("12"), "Thought: go"),
        ("**Action:** visit\n**Action Input:** 12", Visit("12"), ""),
        ('Action: visit\nAction Input: {"button": "Notes"}', Visit("Notes"), ""),
        ("Action: back", Back(), ""),
        ("I know.\nFinal Answer: 42\nand more", Answer(text="42\nand more"), "I know."),
    ],
)
def test_actions_written_in_text(text: str, action: Action | Answer, thought: str) -> None:
    choice = read(Reply(text=text))
    assert choice.action == action
    assert choice.thought == thought


def test_the_first_tool_call_counts_and_the_words_beside_it_are_the_thought() -> None:
    calls = (ToolCall(name="back", arguments="{}"), ToolCall(name="more", arguments="{}"))
    choice = read(Reply(text=" because ", tool_calls=calls))
    assert (choice.action, choice.thought) == (Back(), "because")


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(), "no tool was called"),
        (Reply(text="Let me think."), "no tool was called"),
        (_called("jump", "{}"), "there is no tool 'jump'; there are visit, back"),
        (_called("visit", "{}"), "'target' is missing"),
        (_called("visit", '{"target": " "}'), "'target' is empty"),
        (_called("visit", '{"target": ["12"]}'), "'target' is missing or is no text"),
        (Reply(text="Action: visit"), "'target' is missing"),
        (Reply(text="Action: visit\nAction Input: "), "'target' is empty"),
        (_called("answer", '{"answer": "4'), "broken JSON"),
        (_called("type", '{"field": "c3"}'), "'text' is missing"),
        (_called("switch_tab", '{"number": "two"}'), "'number' is no whole number: 'two'"),
        (Reply(text='{"tool": "jump"}'), "no tool was called"),
    ],
)
def test_what_cannot_be_read_is_told_in_words_for_the_model(reply: Reply, words: str) -> None:
    with pytest.raises(ModelUnreadable, match=words):
        read(reply)


def test_half_a_surrogate_pair_is_replaced() -> None:
    action = read(_called("find", r'{"text": "a\ud800b"}')).action
    assert action == Find("a?b")


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_shows_how_it_is_called(tool: object) -> None:
    assert isinstance(tool, type(TOOLS[0]))
    example = json.loads(tool.example())
    assert example.pop("tool") == tool.name
    assert example.keys() == tool.parameters.keys()
    read(Reply(text=tool.example()))
    read(_called(tool.name, json.dumps(example)))


_JSON_FRAGMENTS = ["{", "}", "[", "]", ",", ":", "null", '"tool": ', '"visit"', '"name"', '"sources": ', '{"a":' * 3000]
_OTHER_FRAGMENTS = [
    "Action: ",
    "Action Input: ",
    "Final Answer:",
    "\n",
    "visit",
    "</think>",
    "```json",
    "\ud800",
    "9" * 5000,
]
_FRAGMENTS = st.sampled_from([*_JSON_FRAGMENTS, *_OTHER_FRAGMENTS])
_TEXTS = st.one_of(st.text(), st.lists(st.one_of(_FRAGMENTS, st.text(max_size=3)), max_size=12).map("".join))
_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["tool", "target", "answer", "sources"]), inner),
)


@given(text=_TEXTS | _JSON.map(json.dumps))
def test_any_text_gives_an_action_or_is_unreadable(text: str) -> None:
    _give_or_refuse(Reply(text=text))


@given(name=st.sampled_from([tool.name for tool in TOOLS]) | st.text(), arguments=_TEXTS | _JSON.map(json.dumps))
def test_any_tool_call_gives_an_action_or_is_unreadable(name: str, arguments: str) -> None:
    _give_or_refuse(_called(name, arguments))


def _give_or_refuse(reply: Reply) -> None:
    try:
        choice = read(reply)
    except ModelUnreadable:
        return
    assert isinstance(choice.action, Action | Answer)
    f"{choice.action}{choice.thought}".encode()
