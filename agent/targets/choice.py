"""Reading a model's reply: which action or answer it comes down to.

Invariant: whatever a model writes, reading it gives an `Action`, an `Answer` or `ModelUnreadable`, nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from agent.errors import ModelUnreadable
from agent.models.reply import Reply
from agent.target import Answer
from agent.targets.arguments import Arguments, encodable
from agent.targets.json_text import objects, whole_object
from agent.targets.tools import SEARCH_TOOL, TOOLS, Tool
from browser.action import Action

_BY_NAME = {tool.name: tool for tool in (*TOOLS, SEARCH_TOOL)}

_REACT_ACTION = re.compile(r"^[ \t*]*Action[ \t*]*:[ \t*]*(\w+)", re.MULTILINE | re.IGNORECASE)
_REACT_INPUT = re.compile(r"^[ \t*]*Action Input[ \t*]*:[ \t*]*(.*)", re.MULTILINE | re.IGNORECASE)
_REACT_ANSWER = re.compile(r"^[ \t*]*Final Answer[ \t*]*:[ \t*]*(.*)", re.MULTILINE | re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a reply comes down to: an action or the answer, and the words before it."""

    action: Action | Answer
    thought: str = ""


def read(reply: Reply) -> Choice:
    """Read a model's reply: its first tool call, else the action or answer written in its text.

    The text may hold a JSON object that names the tool (`{"tool": "visit", "target": "12"}`, with `name` or `action`
    for `tool`, the arguments beside it or under `arguments`, `parameters` or `action_input`), or ReAct's lines
    (`Action:` and `Action Input:`, or `Final Answer:`).

    Raises:
        ModelUnreadable: There is no action in it; the message says what was wrong, in words meant for the model.
    """
    if reply.tool_calls:
        call = reply.tool_calls[0]
        action = _build(call.name, _given(call.arguments))
        return Choice(action=action, thought=encodable(f"{reply.thought}\n{reply.text}").strip())
    text = encodable(reply.text)
    choice = _from_json(text) or _from_react(text)
    if choice is None:
        raise ModelUnreadable("no tool was called")
    return Choice(action=choice.action, thought=f"{encodable(reply.thought)}\n{choice.thought}".strip())


def _from_json(text: str) -> Choice | None:
    for found in objects(text):
        name = _tool_name(found.value)
        if name is not None:
            return Choice(action=_build(name, _arguments(found.value)), thought=found.before)
    return None


def _tool_name(found: dict[str, object]) -> str | None:
    """Say which tool an object calls; other objects may stand in a text, quoted from a page."""
    named = [found[key] for key in ("tool", "name", "action") if key in found]
    names = [name for name in named if isinstance(name, str) and name.strip().lower() in _BY_NAME]
    if names:
        return names[0]
    return "answer" if "answer" in found and not named else None


def _given(text: str) -> object:
    """Read written arguments: a JSON object, else the first line as it stands."""
    found = whole_object(text)
    if found is None and text.lstrip().startswith("{"):
        raise ModelUnreadable("its arguments are broken JSON")
    return text.strip().partition("\n")[0] if found is None else found


def _arguments(found: dict[str, object]) -> object:
    for key in ("arguments", "parameters", "action_input", "args", "input"):
        if key in found:
            return found[key]
    return {key: value for key, value in found.items() if key not in ("tool", "name", "action")}


def _from_react(text: str) -> Choice | None:
    ending = _REACT_ANSWER.search(text)
    if ending:
        answer = _build("answer", {"answer": ending[1].strip()})
        return Choice(action=answer, thought=text[: ending.start()].strip())
    named = _REACT_ACTION.search(text)
    if named is None:
        return None
    given = _REACT_INPUT.search(text, named.end())
    action = _build(named[1], _given(text[given.start(1) :]) if given else {})
    return Choice(action=action, thought=text[: named.start()].strip())


def _build(name: str, arguments: object) -> Action | Answer:
    tool = _BY_NAME.get(name.strip().lower())
    if tool is None:
        raise ModelUnreadable(f"there is no tool {name!r}; there are {', '.join(_BY_NAME)}")
    return tool.build(_named(tool, arguments))


def _named(tool: Tool, arguments: object) -> Arguments:
    """Match what was given to the tool's parameters: small models misname a lone argument, or write it bare."""
    first = next(iter(tool.parameters), None)
    if first is None:
        return {}
    if not isinstance(arguments, Mapping):
        written = arguments.strip().strip("\"'") if isinstance(arguments, str) else arguments
        return {first: written}
    if first not in arguments and len(arguments) == 1:
        return {first: next(iter(arguments.values()))}
    return arguments
