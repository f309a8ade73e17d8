"""BrowserGym's actions, which are written as calls (`click("12")`), read as actions of this project.

Invariant: what is written is only parsed, never evaluated.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass

from agent.errors import ActionUnreadable
from browser.action import (
    Action,
    Back,
    Check,
    Click,
    Forward,
    Hover,
    Press,
    Scroll,
    Select,
    SwitchTab,
    Type,
    Upload,
    Visit,
)

_LINK = re.compile(r"\[?(\d+)\]?")


@dataclass(frozen=True, slots=True)
class Message:
    """Something to tell the user, which ends an episode."""

    text: str


class Noop:
    """Nothing to do but to look again."""


def parse_action(text: str) -> Action | Message | Noop:
    """Read one action.

    Raises:
        ActionUnreadable: It cannot be read, has other arguments, or is none of those there are.
    """
    try:
        [statement] = ast.parse(text.strip()).body
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ActionUnreadable(f"this is no action: {text!r}; write one call, such as click('12')")
        positional = [ast.literal_eval(argument) for argument in call.args]
        named = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise ActionUnreadable(f"this is no action: {text!r}; write one call, such as click('12')") from error
    build = _ACTIONS.get(call.func.id)
    if build is None:
        raise ActionUnreadable(f"there is no action {call.func.id!r}, only {', '.join(sorted(_ACTIONS))}")
    try:
        bound = inspect.signature(build).bind(*positional, **named)
    except TypeError as error:
        raise ActionUnreadable(f"{call.func.id}: {error}") from error
    return build(*bound.args, **bound.kwargs)


def _noop(wait_ms: float = 0) -> Noop:
    return Noop()


def _goto(url: object) -> Visit:
    return Visit(_text(url, "url"))


def _click(bid: object, button: object = "left", modifiers: object = ()) -> Action:
    if button != "left" or modifiers not in ((), []):
        raise ActionUnreadable("click: only the left button, without modifiers")
    reference = _reference(bid)
    return Visit(reference) if reference.isdigit() else Click(reference)


def _fill(bid: object, value: object, enable_autocomplete_menu: object = False) -> Type:
    if not isinstance(value, str):
        raise ActionUnreadable("fill: the value is no text")
    return Type(_reference(bid), value)


def _clear(bid: object) -> Type:
    return Type(_reference(bid), "")


def _select_option(bid: object, options: object) -> Select:
    option = options[0] if isinstance(options, list | tuple) and len(options) == 1 else options
    return Select(_reference(bid), _text(option, "options"))


def _scroll(delta_x: object, delta_y: object) -> Scroll:
    if delta_x or not isinstance(delta_y, int | float) or not delta_y:
        raise ActionUnreadable("scroll: only up and down, by a number that is not 0")
    return Scroll("down" if delta_y > 0 else "up")


def _tab_focus(index: object) -> SwitchTab:
    if not isinstance(index, int):
        raise ActionUnreadable("tab_focus: the index is no whole number")
    return SwitchTab(index + 1)


def _reference(bid: object) -> str:
    reference = _text(str(bid) if isinstance(bid, int) else bid, "bid")
    link = _LINK.fullmatch(reference)
    return link[1] if link else reference


def _text(value: object, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ActionUnreadable(f"the {name} is no text")
    return value.strip()


_ACTIONS: dict[str, Callable[..., Action | Message | Noop]] = {
    "noop": _noop,
    "send_msg_to_user": lambda text: Message(_text(text, "text")),
    "report_infeasible": lambda reason: Message(_text(reason, "reason")),
    "goto": _goto,
    "go_back": Back,
    "go_forward": Forward,
    "click": _click,
    "hover": lambda bid: Hover(_reference(bid)),
    "fill": _fill,
    "clear": _clear,
    "check": lambda bid: Check(_reference(bid)),
    "uncheck": lambda bid: Check(_reference(bid), on=False),
    "select_option": _select_option,
    "upload_file": lambda bid, file: Upload(_reference(bid), _text(file, "file")),
    "keyboard_press": lambda key: Press(_text(key, "key")),
    "scroll": _scroll,
    "tab_focus": _tab_focus,
}
