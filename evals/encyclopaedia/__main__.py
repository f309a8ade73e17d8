"""Serves the encyclopaedia to look at: `python -m evals.encyclopaedia [--port 8767]`; Ctrl-C ends it."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from agent.console import ExitCode, run, show_error, tell
from evals.encyclopaedia.article import MAIN_PAGE
from evals.encyclopaedia.encyclopaedia import build_encyclopaedia
from evals.encyclopaedia.server import EncyclopaediaServer
from evals.site import PortUnavailable


def serve(
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any free one.")] = 8767,
    time_scale: Annotated[
        float, typer.Option("--time-scale", min=0, help="Delays, as a share of published ones.")
    ] = 0.1,
    seed: Annotated[int, typer.Option("--seed", help="What the articles are drawn from.")] = 7,
) -> None:
    """Serve the encyclopaedia on loopback until interrupted."""

    async def work() -> None:
        encyclopaedia = build_encyclopaedia(seed)
        try:
            async with EncyclopaediaServer(encyclopaedia, time_scale=time_scale, port=port) as server:
                tell(f"{server.url}{MAIN_PAGE}")
                await asyncio.Event().wait()
        except PortUnavailable as error:
            show_error(str(error), hint=error.hint)
            raise typer.Exit(ExitCode.USAGE) from error

    run(work())


if __name__ == "__main__":
    typer.run(serve)
