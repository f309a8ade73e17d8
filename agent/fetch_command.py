"""The command `speccache fetch`: one page, as the agent sees it.

Invariant: the page goes to standard output, what is to be known about it to standard error.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from agent import flags
from agent.console import ExitCode, run, show_error, tell
from agent.settings import load_settings
from agent.wiring import checked, open_pool, web_environment
from browser.action import More, Visit
from browser.observation import Observation


@flags.takes(browsing=flags.BROWSING, permitting=flags.REACHING)
def fetch(
    url: Annotated[str, typer.Argument(help="The page; https:// is added where no scheme is given.")],
    given: flags.Flags,
    part: Annotated[int, typer.Option("--part", min=1, help="Which part of a long page.")] = 1,
    as_json: flags.Json = False,
    verbose: flags.Verbose = False,
) -> None:
    """Print one page as the agent sees it: rendered, read, as markdown with numbered links."""

    async def work() -> Observation:
        settings = load_settings(**given)
        address = checked(url)
        async with open_pool(settings) as pool:
            web = web_environment(settings, pool, address)
            try:
                observation = await web.step(Visit(address))
                while observation.part < min(part, observation.parts):
                    observation = await web.step(More())
            finally:
                await web.aclose()
        return observation

    observation = run(work(), verbose=verbose)
    document = observation.document
    if as_json:
        typer.echo(json.dumps(asdict(observation), ensure_ascii=False, indent=2))
    else:
        _show_page(observation)
    found = document.problem is None and (document.status or 0) < 400
    raise typer.Exit(ExitCode.ANSWERED if found else ExitCode.NOT_ANSWERED)


def _show_page(observation: Observation) -> None:
    document = observation.document
    if document.problem is not None:
        show_error(document.problem)
        return
    typer.echo(observation.text)
    tell(
        f"{document.status} {document.title!r} {document.url}; part {observation.part} of {observation.parts},"
        f" {len(document.links)} links; {document.readiness} after {document.timings.total_seconds:.2f} s"
    )
    for note in (*document.notes, *document.incidents):
        tell(f"note: {note}")
    if (document.status or 0) >= 400:
        show_error(f"the server answered {document.url} with HTTP {document.status}")
