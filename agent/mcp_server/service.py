"""One MCP server, put together as the settings ask for it.

Invariant: when it ends, however it ends, no page and no browser of it is left.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from agent.errors import ConfigurationError
from agent.keeper import Keeper
from agent.mcp_server.address import Address
from agent.mcp_server.http_service import serve_http
from agent.mcp_server.playwright_names import playwright_tools
from agent.mcp_server.server import mcp_server
from agent.mcp_server.sessions import IDLE_SECONDS, Sessions
from agent.mcp_server.standard_streams import serve_stdio
from agent.mcp_server.tools import page_tools
from agent.settings import Settings
from agent.telemetry.watch import open_watch

if TYPE_CHECKING:
    from agent.telemetry.prometheus import Metrics


async def serve(
    settings: Settings,
    keeper: Keeper,
    *,
    url: str = "",
    address: Address | None = None,
    playwright_names: bool = False,
    metrics: Metrics | None = None,
) -> None:
    """Serve MCP until the client leaves or a signal comes.

    Args:
        settings: How pages are loaded, and what clients may do.
        keeper: Has the user's own things open.
        url: A site that the user named.
        address: Where to listen for HTTP; None: standard input and output.
        playwright_names: Whether tools have the names of Playwright MCP.
        metrics: Figures that are served beside the protocol over HTTP; None: none are.

    Raises:
        ConfigurationError: The address cannot be listened on, or several sessions would be saved to one file.
    """
    if address is not None and settings.save_storage_state is not None and settings.profile is None:
        raise ConfigurationError(
            "several clients have a session each, and only one file to save them to",
            hint="Use --profile, which they share, in place of --save-storage-state.",
        )
    make = playwright_tools if playwright_names else page_tools
    tools = make(acting=settings.act, searching=settings.search is not None)
    idle_seconds = None if address is None else IDLE_SECONDS
    async with AsyncExitStack() as stack:
        watch = stack.enter_context(open_watch(settings, metrics=metrics))
        sessions = await stack.enter_async_context(
            Sessions(settings, keeper, url=url, idle_seconds=idle_seconds, watch=watch)
        )
        server = mcp_server(sessions, tools, over_http=address is not None)
        if address is None:
            await serve_stdio(server)
        else:
            await serve_http(server, sessions, address, metrics=metrics)
