"""The command `python -m evals.bench NAME`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from agent import flags
from agent.console import run
from evals.bench.foreground import foreground

app = typer.Typer(add_completion=False, help=__doc__, no_args_is_help=True)

Pairs = Annotated[int, typer.Option("--pairs", min=2, help="How many pairs are measured.")]


@app.callback()
def benchmarks() -> None:
    """Compare with the alternative, in the same run, interleaved. Needs a quiet machine."""


@app.command("foreground")
def foreground_command(pairs: Pairs = 30, as_json: flags.Json = False) -> None:
    """Measure a real navigation beside four speculations against one alone."""
    result = run(foreground(pairs=pairs), verbose=True)
    typer.echo(json.dumps(result.as_json()) if as_json else str(result))


if __name__ == "__main__":
    app()
