"""The tools that clients see: names, descriptions, schemas, and what a call does in a session.

Invariant: a tool is one row; what is listed, what arguments it takes and what it does all come from it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.errors import ModelUnreadable
from agent.mcp_server.results import Sight
from agent.mcp_server.session import BrowsingSession
from agent.target import Answer
from agent.targets.arguments import Arguments, filled, text
from agent.targets.tools import READING_TOOLS, SEARCH_TOOL, TOOLS, Tool
from browser.action import Back, Find, More

STATUS = "status"
_CHANGING = ("click", "type", "press", "select", "check", "upload")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTool:
    """A tool that shows a page.

    Attributes:
        name: Its name.
        title: What a person reads.
        purpose: What a model reads.
        parameters: JSON schema of each parameter.
        optional: Those that may be left out.
        aliases: Other names that arguments are taken by, and those they stand for; they are not listed.
        changes: Whether it may change something on a site.
        reaches: Whether it may load something.
        run: Does it.
    """

    name: str
    title: str
    purpose: str
    parameters: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    optional: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    changes: bool = False
    reaches: bool = True
    run: Callable[[BrowsingSession, Arguments], Awaitable[Sight]]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of its arguments."""
        return {
            "type": "object",
            "properties": dict(self.parameters),
            "required": [name for name in self.parameters if name not in self.optional],
            "additionalProperties": False,
        }

    async def call(self, session: BrowsingSession, arguments: Arguments) -> Sight:
        """Do it.

        Raises:
            ModelUnreadable: An argument is missing, unknown, or not of its kind.
            ToolRefused: It cannot be done.
        """
        named = {name: value for name, value in arguments.items() if name not in self.aliases}
        by_alias = {self.aliases[name]: value for name, value in arguments.items() if name in self.aliases}
        check_names(self.name, self.parameters, named)
        return await self.run(session, by_alias | named)


def check_names(tool: str, parameters: Mapping[str, object], arguments: Arguments) -> None:
    """Refuse arguments that a tool does not have.

    Raises:
        ModelUnreadable: There is one.
    """
    unknown = [name for name in arguments if name not in parameters]
    if unknown:
        known = ", ".join(parameters) or "none"
        raise ModelUnreadable(f"{tool} has no argument {unknown[0][:40]!r}", hint=f"Its arguments: {known}.")


def string(description: str) -> dict[str, object]:
    """Describe a parameter that is a text."""
    return {"type": "string", "description": description}


async def go(session: BrowsingSession, arguments: Arguments) -> Sight:
    """Open an address."""
    goal = text(arguments, "goal") if arguments.get("goal") is not None else None
    return await session.open(filled(arguments, "url"), goal=goal)


async def look(session: BrowsingSession, _: Arguments) -> Sight:
    """Show the page again."""
    return session.look()


OPEN = PageTool(
    name="open",
    title="Open a page",
    purpose="Open a web page by its URL and read it as markdown. Links are written [text][12]: open them with follow."
    " While you read, the pages you are likely to open next load in the background, so say in goal what you look for.",
    parameters={
        "url": string("The address; https:// is added where no scheme is given."),
        "goal": string(
            "What you want to find out, in a sentence. It only decides which pages load ahead, until another is given."
        ),
    },
    optional=("goal",),
    run=go,
)
FOLLOW = PageTool(
    name="follow",
    title="Follow a link",
    purpose="Open a link of the current page. Mostly it is loaded already.",
    parameters={"link": string('The link\'s number, for example "12" for [text][12]; or its text.')},
    run=lambda session, given: session.follow(filled(given, "link")),
)
BACK = PageTool(
    name="back",
    title="Go back",
    purpose="Return to the page opened before this one.",
    run=lambda session, _: session.do(Back()),
)
READ_MORE = PageTool(
    name="read_more",
    title="Read on",
    purpose="Read the next part of a page that has several parts. It is there already.",
    reaches=False,
    run=lambda session, _: session.do(More()),
)
FIND = PageTool(
    name="find",
    title="Find on the page",
    purpose="Show where a text occurs on the current page, in any of its parts.",
    parameters={"text": string("The exact words to look for.")},
    reaches=False,
    run=lambda session, given: session.do(Find(filled(given, "text"))),
)
LOOK = PageTool(
    name="look",
    title="Look at the page",
    purpose="Show the current page again, for example after find.",
    reaches=False,
    run=look,
)
SEARCH = PageTool(
    name="search",
    title="Search",
    purpose="Ask the search engine. Its results are links: open them with follow.",
    parameters=SEARCH_TOOL.parameters,
    run=lambda session, given: session.search(filled(given, "query")),
)

READING = (OPEN, FOLLOW, BACK, READ_MORE, FIND, LOOK)
"""What every client may do."""


def acting_tool(tool: Tool) -> PageTool:
    """Return a tool of the agent's own as clients see it; a yes or no may be left out."""

    async def run(session: BrowsingSession, arguments: Arguments) -> Sight:
        action = tool.build(arguments)
        if isinstance(action, Answer):
            raise TypeError(f"{tool.name} does nothing on a page")
        return await session.do(action)

    return PageTool(
        name=tool.name,
        title=tool.name.replace("_", " ").capitalize(),
        purpose=tool.purpose,
        parameters=tool.parameters,
        optional=tuple(name for name, schema in tool.parameters.items() if schema["type"] == "boolean"),
        changes=tool.name in _CHANGING,
        run=run,
    )


ACTING = tuple(acting_tool(tool) for tool in TOOLS if tool not in READING_TOOLS)
"""What a client may do beside that, where the user lets it act."""


def page_tools(*, acting: bool, searching: bool) -> tuple[PageTool, ...]:
    """Return the tools under their own names.

    Args:
        acting: Whether controls may be used.
        searching: Whether there is a search engine.
    """
    return (*READING, *((SEARCH,) if searching else ()), *(ACTING if acting else ()))
