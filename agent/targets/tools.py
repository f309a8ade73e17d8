"""The tools a model acts with: how they are described to it, and what its arguments make of them.

Invariant: a kind of action is one row in `TOOLS`, or `SEARCH_TOOL`; schema, prompt and the reading of replies come from
it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from agent.target import Answer
from agent.targets.arguments import Arguments, encodable, filled, flag, text, whole
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
    Search,
    Select,
    SwitchTab,
    Type,
    Upload,
    Visit,
    WaitFor,
)

_LINK_NUMBER = re.compile(r"\[(\d+)\]$")
_EXAMPLES: dict[str, object] = {"string": "…", "array": ["…"], "boolean": False, "integer": 1}


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
        arguments = {name: _EXAMPLES[str(schema["type"])] for name, schema in self.parameters.items()}
        return json.dumps({"tool": self.name, **arguments}, ensure_ascii=False)


def _string(description: str) -> dict[str, object]:
    return {"type": "string", "description": description}


def _switch(description: str) -> dict[str, object]:
    return {"type": "boolean", "description": description}


def _visit(arguments: Arguments) -> Visit:
    target = filled(arguments, "target")
    number = _LINK_NUMBER.search(target)
    return Visit(number[1] if number else target)


def _answer(arguments: Arguments) -> Answer:
    given = arguments.get("sources")
    named = given if isinstance(given, list) else [given]
    sources = tuple(encodable(source) for source in named if isinstance(source, str))
    return Answer(text=text(arguments, "answer"), sources=sources)


def _type(arguments: Arguments) -> Type:
    submit = flag(arguments, "submit", default=False)
    return Type(filled(arguments, "field"), text(arguments, "text"), submit=submit)


_CONTROL = _string('The control\'s number, for example "c3" for [button "Save"][c3]; or a link\'s, for example "12".')

TOOLS = (
    Tool(
        name="visit",
        purpose="Open a link of the current page, or go to a URL.",
        parameters={"target": _string('The link\'s number, for example "12" for [text][12]; or a URL.')},
        build=_visit,
    ),
    Tool(name="back", purpose="Return to the page visited before this one.", build=lambda _: Back()),
    Tool(name="forward", purpose="Return to the page that the last back left.", build=lambda _: Forward()),
    Tool(name="more", purpose="Read the next part of a page that has several parts.", build=lambda _: More()),
    Tool(
        name="find",
        purpose="Show where a text occurs on the current page, in any of its parts.",
        parameters={"text": _string("The exact words to look for.")},
        build=lambda arguments: Find(filled(arguments, "text")),
    ),
    Tool(
        name="click",
        purpose="Click a control or a link.",
        parameters={
            "control": _CONTROL,
            "accept": _switch("Whether to say yes if the page then asks for confirmation."),
        },
        build=lambda arguments: Click(filled(arguments, "control"), accept=flag(arguments, "accept", default=False)),
    ),
    Tool(
        name="type",
        purpose="Write into a field, in place of what it holds.",
        parameters={
            "field": _CONTROL,
            "text": _string("What to write; empty clears the field."),
            "submit": _switch("Whether to press Enter afterwards."),
        },
        build=_type,
    ),
    Tool(
        name="press",
        purpose="Press a key where the focus is.",
        parameters={"key": _string("Its name, for example Enter, Escape, ArrowDown, Control+a.")},
        build=lambda arguments: Press(filled(arguments, "key")),
    ),
    Tool(
        name="select",
        purpose="Choose an option of a list.",
        parameters={"control": _CONTROL, "option": _string("The option's label, as shown.")},
        build=lambda arguments: Select(filled(arguments, "control"), filled(arguments, "option")),
    ),
    Tool(
        name="check",
        purpose="Set a check box, a radio button or a switch.",
        parameters={"control": _CONTROL, "on": _switch("Whether it is to be on.")},
        build=lambda arguments: Check(filled(arguments, "control"), on=flag(arguments, "on", default=True)),
    ),
    Tool(
        name="hover",
        purpose="Move the mouse over a control or a link, to see what that shows.",
        parameters={"control": _CONTROL},
        build=lambda arguments: Hover(filled(arguments, "control")),
    ),
    Tool(
        name="scroll",
        purpose="Scroll the page, to make it load more, or bring a control into view.",
        parameters={"to": _string('One of "up", "down", "top", "bottom"; or a control\'s number.')},
        build=lambda arguments: Scroll(filled(arguments, "to")),
    ),
    Tool(
        name="upload",
        purpose="Choose one of the user's files in a file field.",
        parameters={"control": _CONTROL, "path": _string("The file's name.")},
        build=lambda arguments: Upload(filled(arguments, "control"), filled(arguments, "path")),
    ),
    Tool(
        name="wait_for",
        purpose="Wait until a text appears on the page.",
        parameters={"text": _string("The text.")},
        build=lambda arguments: WaitFor(filled(arguments, "text")),
    ),
    Tool(
        name="switch_tab",
        purpose="Go to another open tab.",
        parameters={"number": {"type": "integer", "description": "Which one, from 1, in the order they were opened."}},
        build=lambda arguments: SwitchTab(whole(arguments, "number")),
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

READING_TOOLS = tuple(tool for tool in TOOLS if tool.name in ("visit", "back", "forward", "more", "find", "answer"))
"""Those that change nothing anywhere: what a model is offered unless a person lets it act."""

SEARCH_TOOL = Tool(
    name="search",
    purpose="Ask the search engine. Its results are links, to be visited by their numbers.",
    parameters={"query": _string("A few words, or the name of what is sought.")},
    build=lambda arguments: Search(filled(arguments, "query")),
)
"""What a model is offered beside the others where there is a search engine."""

ANSWERING_TOOLS = tuple(tool for tool in TOOLS if tool.name == "answer")
"""What is left when no page can be opened any more."""
