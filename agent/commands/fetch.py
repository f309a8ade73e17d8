"""The command `speccache fetch`: one page, as the agent sees it.

Invariant: the page goes to standard output, what is to be known about it to standard error.
"""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from dataclasses import asdict
from typing import Annotated

import typer

from agent import flags
from agent.console import ExitCode, run, show_error, tell
from agent.keeper import Keeper
from agent.settings import Settings, load_settings
from agent.veil import Veil
from agent.wiring import checked, open_pool, web_environment
from browser.action import More, Visit
from browser.observation import Observation


@flags.takes(browsing=flags.BROWSING, permitting=flags.REACHING)
def fetch(
    url: Annotated[str, typer.Argument(help="The page; https:// is added where no scheme is given.")],
    given: flags.Flags,
    part: Annotated[int, typer.Option("--part", min=1, help="Which part of a long page.")] = 1,
    as_json: flags.Json = False,
    verbose: flags.Tracebacks = False,
) -> None:
    """Print one page as the agent sees it: rendered, read, as markdown with numbered links."""
    with Veil() as veil:

        async def work() -> Observation:
            return await _fetch(checked(url), part, load_settings(**given), veil)

        observation = run(work(), verbose=verbose)
        if as_json:
            typer.echo(json.dumps(asdict(observation), ensure_ascii=False, indent=2))
        else:
            _show_page(observation)
    document = observation.document
    found = document.problem is None and (document.status or 0) < 400
    raise typer.Exit(ExitCode.ANSWERED if found else ExitCode.NOT_ANSWERED)


async def _fetch(url: str, part: int, settings: Settings, veil: Veil) -> Observation:
    async with AsyncExitStack() as stack:
        keeper = stack.enter_context(Keeper(settings))
        visitor = keeper.visitor(url)
        veil.hide(visitor.allowance.masked)
        pool = await stack.enter_async_context(open_pool(settings, url))
        web = web_environment(settings, pool, url, visitor=visitor)
        stack.push_async_callback(web.aclose)
        stack.push_async_callback(keeper.save, web)
        observation = await web.step(Visit(url))
        while observation.part < min(part, observation.parts):
            observation = await web.step(More())
    return observation


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
