"""The tools a model acts with: how they are described to it, and how its reply is read back.

Invariant: whatever a model writes, reading it gives an `Action`, an `Answer` or `ModelUnreadable`, nothing else. A new
kind of action (click, type, select) joins by a row in `TOOLS`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from agent.errors import ModelUnreadable
from agent.reply import Reply
from agent.target import Answer
from browser.action import Action, Back, Find, More, Visit

Arguments = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One thing a model can do.

    Attributes:
        name: What the model calls it.
        purpose: What it does, told to the model.
        parameters: JSON schema of each parameter; all are required, the first is the one that carries the meaning.
        build: Makes the action of the arguments.
    """

    name: str
    purpose: str
    parameters: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    build: Callable[[Arguments], Action | Answer]

    def schema(self) -> dict[str, object]:
        """Describe the tool as the chat-completions protocol wants it."""
        parameters = {
            "type": "object",
            "properties": dict(self.parameters),
            "required": list(self.parameters),
            "additionalProperties": False,
        }
        function = {"name": self.name, "description": self.purpose, "parameters": parameters}
        return {"type": "function", "function": function}

    def example(self) -> str:
        """Show the call as a line of JSON, for models that cannot call tools."""
        arguments = {name: ["…"] if schema["type"] == "array" else "…" for name, schema in self.parameters.items()}
        return json.dumps({"tool": self.name, **arguments}, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a reply comes down to: an action or the answer, and the words before it."""

    action: Action | Answer
    thought: str = ""


def _string(description: str) -> dict[str, object]:
    return {"type": "string", "description": description}


def _text(arguments: Arguments, name: str) -> str:
    """Read one argument; a number or a boolean is taken as it would be written."""
    value = arguments.get(name)
    if not isinstance(value, str | int | float):
        raise ModelUnreadable(f"{name!r} is missing or is no text")
    return _encodable(str(value)).strip()


def _filled(arguments: Arguments, name: str) -> str:
    text = _text(arguments, name)
    if not text:
        raise ModelUnreadable(f"{name!r} is empty")
    return text


def _encodable(text: str) -> str:
    """Replace half surrogate pairs, which JSON can spell and no later step could encode."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _visit(arguments: Arguments) -> Visit:
    target = _filled(arguments, "target")
    number = _LINK_NUMBER.search(target)
    return Visit(number[1] if number else target)


def _answer(arguments: Arguments) -> Answer:
    given = arguments.get("sources")
    named = given if isinstance(given, list) else [given]
    sources = tuple(_encodable(source) for source in named if isinstance(source, str))
    return Answer(text=_text(arguments, "answer"), sources=sources)


TOOLS = (
    Tool(
        name="visit",
        purpose="Open a link of the current page, or go to a URL.",
        parameters={"target": _string('The link\'s number, for example "12" for [text][12]; or a URL.')},
        build=_visit,
    ),
    Tool(name="back", purpose="Return to the page visited before this one.", build=lambda _: Back()),
    Tool(name="more", purpose="Read the next part of a page that has several parts.", build=lambda _: More()),
    Tool(
        name="find",
        purpose="Show where a text occurs on the current page, in any of its parts.",
        parameters={"text": _string("The exact words to look for.")},
        build=lambda arguments: Find(_filled(arguments, "text")),
    ),
    Tool(
        name="answer",
        purpose="End with the answer to the question, or with an empty text if it cannot be found.",
        parameters={
            "answer": _string("The answer, as short as it can be."),
            "sources": {
                "type": "array",
                "items": {"type": "string"},
                "description": "URLs of the visited pages that the answer rests on.",
            },
        },
        build=_answer,
    ),
)
_BY_NAME = {tool.name: tool for tool in TOOLS}

_LINK_NUMBER = re.compile(r"\[(\d+)\]$")
_REACT_ACTION = re.compile(r"^[ \t*]*Action[ \t*]*:[ \t*]*(\w+)", re.MULTILINE | re.IGNORECASE)
_REACT_INPUT = re.compile(r"^[ \t*]*Action Input[ \t*]*:[ \t*]*(.*)", re.MULTILINE | re.IGNORECASE)
_REACT_ANSWER = re.compile(r"^[ \t*]*Final Answer[ \t*]*:[ \t*]*(.*)", re.MULTILINE | re.IGNORECASE | re.DOTALL)
_MAX_OBJECTS = 50
"""How many opening braces are tried: each try may read the whole rest of the text."""


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
        return Choice(action=action, thought=_encodable(reply.text).strip())
    # The opening tag is often part of the prompt, so that only the closing one is in the reply.
    reasoning, _, text = _encodable(reply.text).rpartition("</think>")
    choice = _from_json(text) or _from_react(text)
    if choice is None:
        raise ModelUnreadable("no tool was called")
    thought = f"{reasoning.strip().removeprefix('<think>')}\n{choice.thought}".strip()
    return Choice(action=choice.action, thought=thought)


def _from_json(text: str) -> Choice | None:
    for start in _braces(text):
        found = _object(text[start:])
        if found is None:
            continue
        name = _tool_name(found)
        if name is not None:
            thought = text[:start].strip().removesuffix("```json").removesuffix("```")
            return Choice(action=_build(name, _arguments(found)), thought=thought)
    return None


def _tool_name(found: dict[str, object]) -> str | None:
    """Say which tool an object calls; other objects may stand in a text, quoted from a page."""
    named = [found[key] for key in ("tool", "name", "action") if key in found]
    names = [name for name in named if isinstance(name, str) and name.strip().lower() in _BY_NAME]
    if names:
        return names[0]
    return "answer" if "answer" in found and not named else None


def _braces(text: str) -> Iterator[int]:
    start = -1
    for _ in range(_MAX_OBJECTS):
        start = text.find("{", start + 1)
        if start < 0:
            return
        yield start


def _object(text: str) -> dict[str, object] | None:
    """Read the JSON object a text begins with; None where there is none."""
    try:
        value, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):  # broken, too deep, or a number of too many digits
        return None
    return value if isinstance(value, dict) else None


def _given(text: str) -> object:
    """Read written arguments: a JSON object, else the first line as it stands."""
    found = _object(text)
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
