"""The same tools by the names and arguments of Playwright MCP, for clients, prompts and skills written for that.

Invariant: each does what the tool of our own that it stands for does; what Playwright MCP has and we do not is not
listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agent.errors import ModelUnreadable
from agent.mcp_server.results import Sight
from agent.mcp_server.session import BrowsingSession
from agent.mcp_server.tools import ACTING, BACK, FIND, LOOK, OPEN, READ_MORE, SEARCH, PageTool, string
from agent.targets.arguments import Arguments, filled, flag, text
from browser.action import Hover, Select, Type

_ELEMENT = string("What the element is, in words; for the person who reads along.")
_TARGET = string('The link\'s number, for example "12" for [text][12]; or the control\'s, for example "c3".')
_PLACE: Mapping[str, Mapping[str, object]] = {"element": _ELEMENT, "target": _TARGET}
_OLDER = {"ref": "target"}
"""What its earlier versions called it, as prompts and skills written for them do."""
_SUBMIT = {"type": "boolean", "description": "Whether to press Enter afterwards."}
_SLOWLY = {"type": "boolean", "description": "Whether to press key by key; that is always done."}
_VALUES = {"type": "array", "items": {"type": "string"}, "description": "The option's label, as shown; one."}


def _target(arguments: Arguments) -> str:
    return filled(arguments, "target")


def _value(arguments: Arguments) -> str:
    values = arguments.get("values")
    if not isinstance(values, list) or len(values) != 1:
        raise ModelUnreadable("'values' is no list of one text", hint="Choose one option at a time.")
    return filled({"values": values[0]}, "values")


def _clicking(*, acting: bool) -> PageTool:
    controls = " or click a control" if acting else ""

    async def run(session: BrowsingSession, arguments: Arguments) -> Sight:
        return await session.click(_target(arguments), acting=acting)

    return PageTool(
        name="browser_click",
        title="Click",
        purpose=f"Open a link of the current page{controls}. A linked page is mostly loaded already.",
        parameters=_PLACE,
        optional=("element",),
        aliases=_OLDER,
        changes=acting,
        run=run,
    )


_TYPE = PageTool(
    name="browser_type",
    title="Type text",
    purpose="Write into a field, in place of what it holds.",
    parameters={
        **_PLACE,
        "text": string("What to write; empty clears the field."),
        "submit": _SUBMIT,
        "slowly": _SLOWLY,
    },
    optional=("element", "submit", "slowly"),
    aliases=_OLDER,
    changes=True,
    run=lambda session, given: session.do(
        Type(_target(given), text(given, "text"), submit=flag(given, "submit", default=False))
    ),
)
_SELECT = PageTool(
    name="browser_select_option",
    title="Select an option",
    purpose="Choose an option of a list.",
    parameters={**_PLACE, "values": _VALUES},
    optional=("element",),
    aliases=_OLDER,
    changes=True,
    run=lambda session, given: session.do(Select(_target(given), _value(given))),
)
_HOVER = PageTool(
    name="browser_hover",
    title="Hover",
    purpose="Move the mouse over a control or a link, to see what that shows.",
    parameters=_PLACE,
    optional=("element",),
    aliases=_OLDER,
    run=lambda session, given: session.do(Hover(_target(given))),
)
_OWN = {tool.name: tool for tool in ACTING}
_ACTING = (
    _TYPE,
    _SELECT,
    _HOVER,
    replace(_OWN["press"], name="browser_press_key"),
    replace(_OWN["wait_for"], name="browser_wait_for"),
    *(_OWN[name] for name in ("check", "scroll", "upload", "switch_tab")),  # which it has not, or not by itself
)
_NAVIGATE = replace(OPEN, name="browser_navigate", purpose=OPEN.purpose.replace("with follow", "with browser_click"))


def playwright_tools(*, acting: bool, searching: bool) -> tuple[PageTool, ...]:
    """Return the tools as Playwright MCP names them; what it has no name for keeps its own.

    Args:
        acting: Whether controls may be used.
        searching: Whether there is a search engine.
    """
    reading = (
        _NAVIGATE,
        replace(BACK, name="browser_navigate_back"),
        replace(LOOK, name="browser_snapshot"),
        replace(FIND, name="browser_find"),
        _clicking(acting=acting),
        READ_MORE,
    )
    search = (replace(SEARCH, purpose=SEARCH.purpose.replace("with follow", "with browser_click")),)
    return (*reading, *(search if searching else ()), *(_ACTING if acting else ()))
