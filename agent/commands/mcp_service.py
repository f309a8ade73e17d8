"""The command `speccache mcp`: a server for MCP clients.

Invariant: over standard streams, standard output is the protocol's alone; what a person is told goes to standard error.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from copy import copy
from typing import Annotated, Any

import typer

from agent import flags
from agent.console import run
from agent.errors import ConfigurationError
from agent.keeper import Keeper
from agent.logs import set_up_log
from agent.mcp_server.address import Address
from agent.observing_flags import OBSERVING
from agent.settings import Settings, load_settings
from agent.telemetry.watch import new_metrics
from agent.veil import Veil
from agent.web import checked

_HELP: Mapping[str, str] = {
    "speculation": "Load likely next pages while the client thinks.  \\[default: on]",
    "max_guesses": "Guesses taken up a call.  \\[default: 3]",
    "headers": "Header for the site of --url and --allow-host hosts, and for nobody else; repeatable.",
    "storage_state": "File with the cookies and storage that each client begins with (Playwright's).",
    "save_storage_state": "File in which they are saved at the end; not with --http, where clients have one each.",
    "profile": "Session that is kept from one server to the next, and that all clients share; one server at a time.",
    "act": "Let clients click, type and choose, not only read.  \\[default: off]",
    "secrets": "What a client may have typed on a host (that of --url) but never sees. Without =VALUE, which others can"
    " see in the process list: SPECCACHE_SECRET_NAME, or the file named by SPECCACHE_SECRET_NAME_FILE. Repeatable.",
    "files": "A file that a client may upload; repeatable.",
    "allow_hosts": "A private host that may be visited, beside that of --url.",
    "downloads": "Folder for files that pages give.  \\[default: gone with the server]",
}
"""What flags do here whose help elsewhere tells of a run that has a question, a start and a target."""


def _here(group: flags.Flags) -> flags.Flags:
    """Return flags with the help that is true of a server."""
    return {name: _retold(flag, _HELP[name]) if name in _HELP else flag for name, flag in group.items()}


def _retold(flag: Any, told: str) -> Any:
    (option,) = flag.__metadata__
    shown = copy(option)
    shown.help = told
    return Annotated[flag.__origin__, shown]


_SPECULATING = {name: flag for name, flag in flags.SPECULATING.items() if name != "predictor"}

Site = Annotated[
    str | None,
    typer.Option(
        "--url",
        help="A site of yours: its host may be private, and --header and --secret are for it where they name no other.",
    ),
]
Http = Annotated[bool, typer.Option("--http", help="Serve several clients over HTTP, at /mcp.  \\[default: stdio]")]
Host = Annotated[str, typer.Option("--host", help="Where --http listens; other machines reach it with a token only.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65_535, help="The port of --http; 0: any.")]
Token = Annotated[
    str,
    typer.Option(
        "--token",
        envvar="SPECCACHE_MCP_TOKEN",
        help="What clients of --http send as bearer token; a flag can be seen in the process list, a variable cannot.",
    ),
]
PlaywrightNames = Annotated[
    bool, typer.Option("--playwright-names", help="Name the tools as Playwright MCP does: browser_navigate, …")
]

Metrics = Annotated[
    bool, typer.Option("--metrics", help="Serve figures for Prometheus beside --http, at /metrics; extra 'metrics'.")
]


Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Show where an unexpected error comes from. For every load: --log-format json --log-level debug.",
    ),
]


@flags.takes(
    speculating=_here(_SPECULATING),
    browsing=_here(flags.BROWSING),
    permitting=_here(flags.PERMITTING),
    observing=OBSERVING,
)
def mcp(
    given: flags.Flags,
    url: Site = None,
    http: Http = False,
    host: Host = "127.0.0.1",
    port: Port = 8931,
    token: Token = "",
    playwright_names: PlaywrightNames = False,
    metrics: Metrics = False,
    verbose: Verbose = False,
) -> None:
    """Serve pages to any MCP client, and load the likely next ones while its model thinks."""
    with Veil() as veil:

        async def work() -> None:
            settings = load_settings(**given)
            set_up_log(settings)
            if metrics and not http:
                raise ConfigurationError("figures are served over HTTP only", hint="Add --http to --metrics.")
            address = Address(host=host, port=port, token=token) if http else None
            site = checked(url) if url else ""
            await _serve(settings, site, address, veil, playwright_names=playwright_names, metrics=metrics)

        run(work(), verbose=verbose)


async def _serve(
    settings: Settings, url: str, address: Address | None, veil: Veil, *, playwright_names: bool, metrics: bool
) -> None:
    try:
        from agent.mcp_server.service import serve  # noqa: PLC0415 - needs the extra `mcp`
    except ImportError as error:
        raise ConfigurationError(
            f"the MCP server needs a package that is not there: {error.name}",
            hint="Install it with: pip install 'speccache[mcp]'",
        ) from error
    with ExitStack() as stack:
        keeper = stack.enter_context(Keeper(settings))
        veil.hide(keeper.visitor(url).allowance.masked)
        await serve(
            settings,
            keeper,
            url=url,
            address=address,
            playwright_names=playwright_names,
            metrics=new_metrics() if metrics else None,
        )
