"""Serves one generated site to look at: `python -m evals.walks --site game-zh-2 [--port 8766]`; Ctrl-C ends it."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from agent.console import ExitCode, run, show_error, tell
from evals.site import PortUnavailable
from evals.walks.suite import serve_site
from evals.walks.walk_site import WalkSite, build_sites


def serve(
    site: Annotated[str, typer.Option("--site", help="Its name, such as game-zh-2.")] = "education-en-1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any free one.")] = 8766,
    time_scale: Annotated[
        float, typer.Option("--time-scale", min=0, help="Delays, as a share of published ones.")
    ] = 0.1,
    seed: Annotated[int, typer.Option("--seed", help="What the sites are drawn from.")] = 7,
) -> None:
    """Serve one site of the suite `walks` on loopback until interrupted."""
    sites = {each.name: each for each in build_sites(seed)}
    if site not in sites:
        show_error(f"there is no site {site!r}", hint=f"Choose one of: {', '.join(sites)}.")
        raise typer.Exit(ExitCode.USAGE)

    async def work(chosen: WalkSite) -> None:
        try:
            async with serve_site(chosen, time_scale=time_scale, port=port) as server:
                tell(f"{server.url}{chosen.root}")
                tell(f"{len(chosen.items)} questions, {len(chosen.root_links())} sub-pages linked on the root page")
                await asyncio.Event().wait()
        except PortUnavailable as error:
            show_error(str(error), hint=error.hint)
            raise typer.Exit(ExitCode.USAGE) from error

    run(work(sites[site]))


if __name__ == "__main__":
    typer.run(serve)
