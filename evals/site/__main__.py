"""Serves the demo site: `python -m evals.site [--port 8765] [--time-scale 0.1]`; Ctrl-C ends it."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from agent.console import ExitCode, run, show_error, tell
from evals.site import LatencyModel, PortUnavailable, SiteServer, build_site


def serve(
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any free one.")] = 8765,
    time_scale: Annotated[
        float, typer.Option("--time-scale", min=0, help="Delays, as a share of published ones.")
    ] = 0.1,
) -> None:
    """Serve the demo site on loopback until interrupted."""

    async def work() -> None:
        try:
            async with SiteServer(build_site(), latency=LatencyModel(time_scale=time_scale), port=port) as server:
                tell(f"{server.url}/en")
                await asyncio.Event().wait()
        except PortUnavailable as error:
            show_error(str(error), hint=error.hint)
            raise typer.Exit(ExitCode.USAGE) from error

    run(work())


if __name__ == "__main__":
    typer.run(serve)
