"""The command line's reference: each command with its arguments and flags, panel by panel of its help."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from inspect import signature
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from typer.main import get_command

from agent.cli import app
from tests.reference.markdown import WRITTEN_BY, cell, code, table

_INTRODUCTION = """
What `speccache COMMAND --help` says, on one page. A flag that is not given leaves it to the environment, then to
`speccache.toml`, then to the default: see [settings](settings.md).
"""
_VALUES = {str: "TEXT", int: "NUMBER", float: "NUMBER", Path: "PATH"}
_DEFAULT = re.compile(r"\s*\\?\[default: (.*)\]\s*$")


def command_line_page() -> str:
    """The page, as markdown."""
    sections = [_section(name, command) for name, command in commands().items()]
    return "\n\n".join([WRITTEN_BY, "# Command line", _INTRODUCTION.strip(), *sections, _exit_codes()]) + "\n"


def commands() -> dict[str, Any]:
    """The commands, by name; those that other packages add come in another order each time."""
    group: Any = get_command(app)
    return {name: group.get_command(None, name) for name in sorted(group.list_commands(None))}


def flags(command: Any) -> set[str]:
    """All flags that a command takes, long and short."""
    return {"--help", *(word for option in _options(command) for word in (*option.opts, *option.secondary_opts))}


def _section(name: str, command: Any) -> str:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    usage = " ".join(["speccache", name, "[OPTIONS]", *(_argument(argument) for argument in arguments)])
    panels: dict[str, list[tuple[str, ...]]] = {}
    for option in _options(command):
        panels.setdefault(option.rich_help_panel or "", []).append(_row(command, option))
    tables = [
        table(f"{title} flag".strip().capitalize(), "does", "default", rows=rows) for title, rows in panels.items()
    ]
    rows = [(code(_argument(argument)), *_told(argument)) for argument in arguments]
    shown = [table("Argument", "is", "default", rows=rows)] if rows else []
    return "\n\n".join([f"## `speccache {name}`", command.help.strip(), f"```text\n{usage}\n```", *shown, *tables])


def _argument(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    many = "..." if argument.nargs == -1 else ""
    return f"{name}{many}" if argument.required else f"[{name}]{many}"


def _options(command: Any) -> Iterable[Any]:
    return [parameter for parameter in command.params if parameter.param_type_name == "option"]


def _row(command: Any, option: Any) -> tuple[str, ...]:
    words = ", ".join(code(word) for word in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else f" {code(option.metavar or _value(command, option.name))}"
    return (words + value, *_told(option))


def _value(command: Any, name: str) -> str:
    """What follows a flag, by the type that the command's own signature gives it."""
    kind = get_args(signature(command.callback, eval_str=True).parameters[name].annotation)[0]
    kinds = [each for each in get_args(kind) if each is not NoneType] or [kind]
    if get_origin(kind) is Literal:
        return "|".join(map(str, kinds))
    plain = get_args(kinds[0])[0] if get_origin(kinds[0]) is list else kinds[0]
    return "|".join(each.value for each in plain) if issubclass(plain, Enum) else _VALUES[plain]


def _told(parameter: Any) -> tuple[str, str]:
    """What it does, and its default: as its help says, or else the command's own signature."""
    text = parameter.help or ""
    told = _DEFAULT.search(text)
    if told:
        return cell(_DEFAULT.sub("", text)), cell(told[1])
    own = parameter.default
    shown = "" if own is None or own is False or own == "" or callable(own) else str(own)
    variable = f" Variable: `{parameter.envvar}`." if parameter.envvar else ""
    return cell(text) + variable, cell(shown)


def _exit_codes() -> str:
    rows = [
        ("0", "answered"),
        ("1", "not answered"),
        ("2", "usage or configuration"),
        ("3", "no browser or no model"),
        ("130, 143", "interrupted, terminated"),
    ]
    return "## Exit codes\n\n" + table("code", "means", rows=rows)
