"""The command `python -m evals.bench NAME`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from agent import flags
from agent.console import run
from browser.shared_cache.address import parse_cache_address
from evals.bench.egress import egress
from evals.bench.foreground import foreground
from evals.bench.hedging import hedging
from evals.bench.history import history
from evals.bench.hit import hit
from evals.bench.navigate_command import navigate_command
from evals.bench.never_slower import never_slower
from evals.bench.read import read
from evals.bench.recall import recall
from evals.bench.result import Result
from evals.bench.soak_command import soak_command

app = typer.Typer(add_completion=False, help=__doc__, no_args_is_help=True)

Pairs = Annotated[int, typer.Option("--pairs", min=2, help="How many pairs are measured.")]
QuestionFiles = Annotated[
    list[Path] | None,
    typer.Argument(
        help="Question files, one JSON object a line; without any, the bundled site's questions.", exists=True
    ),
]
Sites = Annotated[Path | None, typer.Option("--sites", help="The folder with one folder a site.", exists=True)]


@app.callback()
def benchmarks() -> None:
    """Compare with the alternative, in the same run, interleaved. Needs a quiet machine."""


@app.command("egress")
def egress_command(pairs: Pairs = 60, as_json: flags.Json = False) -> None:
    """Measure page loads through the egress proxy against direct ones."""
    _show(run(egress(pairs=pairs), verbose=True), as_json=as_json)


@app.command("foreground")
def foreground_command(pairs: Pairs = 30, as_json: flags.Json = False) -> None:
    """Measure a real navigation beside four speculations against one alone."""
    _show(run(foreground(pairs=pairs), verbose=True), as_json=as_json)


@app.command("hedging")
def hedging_command(
    calls: Annotated[int, typer.Option("--calls", min=200, help="How many calls each side makes.")] = 1500,
    as_json: flags.Json = False,
) -> None:
    """Measure calls to a model as slow as published with a second request for the late ones, against one each."""
    _show(run(hedging(calls=calls), verbose=True), as_json=as_json)


@app.command("history")
def history_command(files: QuestionFiles = None, sites: Sites = None, as_json: flags.Json = False) -> None:
    """Measure how often a client's next link is among the first guesses, with a goal and from its history alone."""
    _show(run(history(*_asked(files, sites)), verbose=True), as_json=as_json)


@app.command("hit")
def hit_command(pairs: Pairs = 20, as_json: flags.Json = False) -> None:
    """Measure a step whose page was loaded ahead against the same step without speculation."""
    _show(run(hit(pairs=pairs), verbose=True), as_json=as_json)


@app.command("mcp")
def mcp_command(
    pairs: Pairs = 16,
    against: Annotated[
        str,
        typer.Option(
            "--against", metavar="COMMAND", help="Starts a server with the tools of Playwright MCP, to compare with it."
        ),
    ] = "",
    as_json: flags.Json = False,
) -> None:
    """Measure how long a scripted MCP client waits for pages against a server that loads nothing ahead."""
    from evals.bench.mcp_client import mcp_client  # noqa: PLC0415 - needs the extra `mcp`

    _show(run(mcp_client(pairs=pairs, against=against), verbose=True), as_json=as_json)


app.command("navigate")(navigate_command)


@app.command("never-slower")
def never_slower_command(pairs: Pairs = 20, as_json: flags.Json = False) -> None:
    """Measure runs with every guess wrong against runs with speculation off."""
    _show(run(never_slower(pairs=pairs), verbose=True), as_json=as_json)


@app.command("read")
def read_command(pairs: Pairs = 30, as_json: flags.Json = False) -> None:
    """Measure reading a page of documentation against turning its HTML into markdown as it is."""
    _show(run(read(pairs=pairs), verbose=True), as_json=as_json)


@app.command("recall")
def recall_command(files: QuestionFiles = None, sites: Sites = None, as_json: flags.Json = False) -> None:
    """Measure how often the right next link is among the free predictors' first guesses."""
    _show(run(recall(*_asked(files, sites)), verbose=True), as_json=as_json)


def _asked(files: list[Path] | None, sites: Path | None) -> tuple[list[Path], Path]:
    if files and sites is None:
        raise typer.BadParameter("question files need --sites, the folder that their sites are in")
    return files or [], sites or Path()


@app.command("shared")
def shared_command(
    cache: Annotated[str, typer.Option("--cache", help="A Redis or Valkey server.")] = "redis://127.0.0.1:6379/0",
    pairs: Pairs = 40,
    as_json: flags.Json = False,
) -> None:
    """Measure a step whose page is in the shared cache against the same step without one."""
    from evals.bench.shared import shared  # noqa: PLC0415 - needs the extra `redis`

    try:
        address = parse_cache_address(cache)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--cache") from error
    _show(run(shared(address, pairs=pairs), verbose=True), as_json=as_json)


app.command("soak")(soak_command)


def _show(result: Result, *, as_json: bool) -> None:
    typer.echo(json.dumps(result.as_json()) if as_json else str(result))


if __name__ == "__main__":
    app()
