"""The command `speccache`: which commands there are, and where each is.

Invariant: a command is loaded only when it is named or listed; it only reads its flags, calls the package that does
the work, and prints. Further packages add commands through the entry point group `speccache.commands`.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from pkgutil import resolve_name
from typing import Any

import typer
from typer.core import TyperGroup

_COMMANDS = {
    "ask": "agent.commands.ask:ask",
    "fetch": "agent.commands.fetch:fetch",
    "trace": "agent.commands.trace_page:trace",
    "mcp": "agent.commands.mcp_service:mcp",
    "probe": "agent.commands.probe:probe",
    "doctor": "agent.commands.setup:doctor",
    "install-browser": "agent.commands.setup:install_browser",
    "install-model": "agent.commands.setup:install_model",
}
_GROUP = "speccache.commands"


class _Commands(TyperGroup):
    """The commands of this package, then those that other packages add."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*_COMMANDS, *entry_points(group=_GROUP).names]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        places = [*entry_points(group=_GROUP, name=cmd_name)]
        place = _COMMANDS.get(cmd_name) or (places[0].value if places else None)
        if place is None:
            return None
        command = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
        command.command(cmd_name)(resolve_name(place))
        return typer.main.get_command(command)


app = typer.Typer(
    name="speccache",
    cls=_Commands,
    epilog="Exit codes: 0 answered, 1 not answered, 2 usage or configuration, 3 no browser or no model.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


@app.callback()
def speccache() -> None:
    """A browser agent that does not wait for the web: likely next pages load while the model thinks."""


def main() -> None:
    """Run the command line."""
    app()
