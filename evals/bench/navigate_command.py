"""The command `python -m evals.bench navigate`.

Invariant: what is asked for on the command line is checked before anything is started.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from agent import flags
from agent.console import err, run
from evals.bench.navigate import navigate
from evals.bench.navigate_plan import Plan, bundled, places_in
from evals.bench.navigate_table import print_navigate
from evals.bench.result import Result


def navigate_command(
    sites: Annotated[
        Path | None,
        typer.Option("--sites", help="A folder with one folder a site; without it, the bundled site.", exists=True),
    ] = None,
    site: Annotated[
        list[str] | None,
        typer.Option("--site", help="One of them, as NAME or NAME/START; may be repeated.  [default: all]"),
    ] = None,
    delay: Annotated[str, typer.Option("--delay", help="Milliseconds added to each request.")] = "0,200",
    concurrency: Annotated[str, typer.Option("--concurrency", help="Pages read at once.")] = "1,2,4,8",
    loads: Annotated[int, typer.Option("--loads", min=2, help="Of each program, for each of these.")] = 48,
    crawl4ai: Annotated[
        Path | None, typer.Option("--crawl4ai", help="The Python that has crawl4ai, to compare with it.", exists=True)
    ] = None,
    as_json: flags.Json = False,
) -> None:
    """Measure how fast pages are read whole: ours, plain Playwright and crawl4ai."""
    if site and sites is None:
        raise typer.BadParameter("--site needs --sites, the folder that the site is in")
    plan = Plan(
        places=(bundled(),) if sites is None else places_in(sites, site or ()),
        delays_milliseconds=_numbers(delay, least=0),
        concurrencies=_numbers(concurrency, least=1),
        loads=loads,
        crawl4ai=crawl4ai,
    )
    result = run(_navigate(plan), verbose=True)
    if as_json:
        typer.echo(json.dumps(result.as_json()))
    else:
        print_navigate(result)


async def _navigate(plan: Plan) -> Result:
    with Progress(console=err) as progress:
        return await navigate(plan, progress)


def _numbers(text: str, *, least: int) -> tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} is no list of numbers like 1,2,4") from error
    if min(numbers) < least:
        raise typer.BadParameter(f"{text!r} holds a number below {least}")
    return numbers
